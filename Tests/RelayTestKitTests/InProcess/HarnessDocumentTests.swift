import Glibc
import RelayCore
import RelayTestKit
import Synchronization
import TestTraits
import Testing

enum Lighting1: EventInterface {
    static let name = "org.example.Lighting1"
    static var contract: Contract<Self> { Lamp.self }
}
struct Lamp: EditableDocument {
    typealias Interface = Lighting1
    var brightness: Int32, colour: String?
    static let initial = Self(brightness: 0, colour: nil)
}

@MainActor private final class LampView: DocumentView {
    private(set) var shown: [Int32] = []
    func show(_ lamp: Lamp) { shown.append(lamp.brightness) }
}

/// As a user has it: public API only.
@Suite("Documents in a harness", .tags(.g1)) struct HarnessDocumentTests {
    @Test("a view of a relay's document sees each state once, in order; an update and a conflict are as on a bus")
    @MainActor func follows() async throws {
        let harness = TestHarness()
        let service = try EventService(
            name: "org.example.Lamps", on: harness.bus, exporting: Lighting1.self, journal: MemoryLog())
        try await harness.start(service)
        let relay = try EventRelay(following: "org.example.Lamps", on: harness.bus, interfaces: Lighting1.self)
        relay.activate()
        let view = LampView()

        let lamp = LocalDocument(Lamp.initial)
        lamp.addView(view, key: "list")
        let following = try relay.follow(Lamp.self, into: lamp) { print($0.message) }
        try await relay.update(Lamp.self) { $0.brightness += 1 }

        #expect(await eventually { view.shown == [0, 1] })
        let present = try await relay.snapshot(of: Lamp.self)
        for brightness in [2, 3] as [Int32] {
            try await service.document(Lamp.self).set(Lamp(brightness: brightness, colour: "red"))
        }
        #expect(await eventually { view.shown == [0, 1, 2, 3] })
        var isConflict = false
        do { try await relay.submit(Lamp.initial, basedOn: present.version) } catch .conflict { isConflict = true }
        #expect(isConflict)
        #expect(lamp.state == Lamp(brightness: 3, colour: "red"))
        following.cancel()
    }
    @Test(
        "a document that the service lacks is reported where the relay delivers: on a foreign main loop, as it drains")
    func failureOnLoop() async throws {
        // Of a later version than the service's.
        enum Later1: EventInterface {
            static let name = Lighting1.name
            static var contract: Contract<Self> { Fan.self }
            struct Fan: DomainDocument {
                typealias Interface = Later1
                var speed: Int32
                static let initial = Self(speed: 0)
            }
        }
        let harness = TestHarness()
        let service = try EventService(
            name: "org.example.Lamps", on: harness.bus, exporting: Lighting1.self, journal: MemoryLog())
        try await harness.start(service)
        let target = try PollableTarget()
        let relay = try EventRelay(
            following: "org.example.Lamps", on: harness.bus, interfaces: Later1.self, delivery: .pollable(target))
        relay.activate()
        /// The thread that drains; 0: none does.
        let loop = Mutex<UInt>(0)
        let reports = Mutex<[Bool]>([])
        let following = try relay.follow(Later1.Fan.self, into: LocalDocument(Later1.Fan.initial)) { _ in
            let isOnLoop = loop.withLock { $0 == pthread_self() }
            reports.withLock { $0.append(isOnLoop) }
        }
        let isReported = await eventually(within: .seconds(60)) {
            loop.withLock { $0 = pthread_self() }
            target.drain()
            loop.withLock { $0 = 0 }
            return reports.withLock { !$0.isEmpty }
        }
        #expect(isReported)
        #expect(reports.withLock { $0.allSatisfy { $0 } })
        following.cancel()
    }
}
