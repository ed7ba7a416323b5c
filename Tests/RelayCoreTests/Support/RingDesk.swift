import RelayTestKit
import Synchronization
import Testing

@testable import RelayCore

enum Meter1: EventInterface {
    static let name = "org.example.Meter1"
    static let durability = Volatile()
    static let signalBudget = SignalBudget.unlimited
    static let ringCapacity = 64 << 10
    static var contract: Contract<Self> {
        Metered.self
        Labelled.self
    }
}
struct Metered: FixedLayoutEvent, Equatable {
    typealias Interface = Meter1
    var value: Double, number: UInt64
}
struct Labelled: DomainEvent, Equatable {
    typealias Interface = Meter1
    var text: String
}
enum SmallLedger1: EventInterface {
    static let name = "org.example.SmallLedger1"
    static let signalBudget = SignalBudget.unlimited
    static let ringCapacity = 64 << 10
    static var contract: Contract<Self> {
        Entered.self
        Weighed.self
    }
}
struct Entered: DomainEvent, Equatable {
    typealias Interface = SmallLedger1
    var text: String
}
struct Weighed: FixedLayoutEvent, Equatable {
    typealias Interface = SmallLedger1
    var weight: Double
}
enum Private1: EventInterface {
    static let name = "org.example.Private1"
    static let durability = Volatile()
    static var requirement: PeerRequirement { .user("no such user") }
    static var contract: Contract<Self> { Confided.self }
}
struct Confided: DomainEvent {
    typealias Interface = Private1
    var number: Int64
}
enum Ringless1: EventInterface {
    static let name = "org.example.Ringless1"
    static let durability = Volatile()
    static let ringCapacity = 0
    static var contract: Contract<Self> { Called.self }
}
struct Called: DomainEvent {
    typealias Interface = Ringless1
    var number: Int64
}

/// A service with rings of all kinds.
final class RingDesk: Sendable {
    static let name = "org.example.RingDesk"
    let bus: PrivateBus
    let service: EventService
    private let running: Task<Void, any Error>

    init(_ bus: PrivateBus? = nil) async throws {
        let bus = try bus ?? PrivateBus()
        let service = try EventService(
            name: Self.name, on: bus.bus,
            exporting: Meter1.self, SmallLedger1.self, Private1.self, Ringless1.self, journal: MemoryLog())
        (self.bus, self.service) = (bus, service)
        let (ready, isReady) = AsyncStream.makeStream(of: Void.self)
        running = Task {
            defer { isReady.finish() }
            try await service.run { isReady.finish() }
        }
        for await _ in ready {}
    }
    func stream(_ interface: String) throws -> PublishedStream {
        try #require(service.core.interfaces.first { $0.name == interface }).stream
    }
    func stop() async throws {
        running.cancel()
        try await running.value
    }
    /// As when the bus has enough of signals.
    func pause(_ interface: String, _ isPaused: Bool) throws {
        let stream = try stream(interface)
        stream.state.withLock { _ in stream.needsPayloadsOnly.store(isPaused, ordering: .relaxed) }
    }
}
