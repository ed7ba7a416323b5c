import RelayCore
import RelayTestKit
import Synchronization
import TestTraits
import Testing

enum Vault1: EventInterface {
    static let name = "org.example.Vault1"
    static let durability = Volatile()
    static var requirement: PeerRequirement { .polkit(action: "org.example.vault.follow") }
    static var contract: Contract<Self> {
        VaultOpened.self
        OpenVault.self
    }
}
struct VaultOpened: DomainEvent, Equatable {
    typealias Interface = Vault1
    let number: Int64
}
struct OpenVault: Command {
    typealias Interface = Vault1
    static var requirement: PeerRequirement { .polkit(action: "org.example.vault.open") }
}

/// As a user has it: public API only.
@Suite("A harness answers in polkit's place", .tags(.g7)) struct HarnessPolkitTests {
    @Test("commands and events are for whom the test permits, and until it changes its mind") func rules() async throws
    {
        let harness = TestHarness()
        let service = try EventService(name: "org.example.Vault", on: harness.bus, exporting: Vault1.self)
        service.handle(OpenVault.self) { _, _ in }
        try await harness.start(service)
        let relays = try [1_000, 1_001].map { user in
            try EventRelay(following: "org.example.Vault", on: harness.bus(user: user), interfaces: Vault1.self)
        }
        let (ann, bob) = (relays[0], relays[1])
        func code(_ relay: EventRelay) async -> RelayError.Code? {
            if case .failed(let error) = await relay.outcome(of: OpenVault()) { error.code } else { nil }
        }
        ann.activate()
        #expect(await code(ann) == .unavailable)
        harness.polkit { action, user in user == 1_000 || action == "org.example.vault.follow" }
        #expect(await code(ann) == nil)
        bob.activate()
        #expect(await code(bob) == .notPermitted)
        let seen = relays.map { EventRecorder($0.publisher, of: Vault1.self) }
        try await harness.settle()
        try service.publish(VaultOpened(number: 1))
        try await harness.settle()
        for recorder in seen { #expect(recorder.events(of: VaultOpened.self) == [VaultOpened(number: 1)]) }
        harness.polkit { _, user in user == 1_000 }
        try await harness.settle()
        try service.publish(VaultOpened(number: 2))
        try await harness.settle()
        #expect(seen[0].events(of: VaultOpened.self).map(\.number) == [1, 2])
        #expect(seen[0].gaps.isEmpty)
        #expect(seen[1].events(of: VaultOpened.self).map(\.number) == [1])
        try await harness.stop(service)
    }
}
