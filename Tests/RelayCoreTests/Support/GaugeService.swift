import Dispatch
import RelayTestKit
import Synchronization
import Testing

@testable import RelayCore

/// A volatile interface with a small ring, at which signals never pause.
enum Gauge1: EventInterface {
    static let name = "org.example.Gauge1"
    static let durability = Volatile()
    static let ringCapacity = 64 << 10
    static var contract: Contract<Self> {
        Gauged.self
        Named.self
        Measure.self
    }
}
struct Gauged: FixedLayoutEvent, Equatable {
    typealias Interface = Gauge1
    var number: Int64
    var value: Double
    var kind: Int32
    var flags: UInt32 = 7
}
struct Named: DomainEvent, Equatable {
    typealias Interface = Gauge1
    var number: Int64
    var text: String
}
/// Publishes so many of both, in turns.
struct Measure: Command {
    typealias Interface = Gauge1
    var first: Int64
    var count: Int64
}

/// The same interface as a program of another version has it.
enum OtherGauge1: EventInterface {
    static let name = Gauge1.name
    static let durability = Volatile()
    static var contract: Contract<Self> {
        OtherGauged.self
        OtherNamed.self
    }
}
struct OtherGauged: FixedLayoutEvent, Equatable {
    typealias Interface = OtherGauge1
    static let name = "Gauged"
    var value: Double
    var number: Int64
}
struct OtherNamed: DomainEvent, Equatable {
    typealias Interface = OtherGauge1
    static let name = "Named"
    var text: String
    var number: Int64
    var note: String?
}

/// A service with it.
final class GaugeService: Sendable {
    static let name = "org.example.Gauge"
    let bus: PrivateBus
    let service: EventService
    private let running: Task<Void, any Error>

    init(_ bus: PrivateBus? = nil) async throws {
        let bus = try bus ?? PrivateBus()
        self.bus = bus
        let service = try EventService(name: Self.name, on: bus.bus, exporting: Gauge1.self)
        self.service = service
        service.handle(Measure.self) { command, _ in
            for number in command.first..<command.first + command.count { try Self.publish(number, service) }
        }
        let (ready, isReady) = AsyncStream.makeStream(of: Void.self)
        running = Task {
            defer { isReady.finish() }
            try await service.run { isReady.finish() }
        }
        for await _ in ready {}
    }
    func publish(_ numbers: ClosedRange<Int64>) throws { for number in numbers { try Self.publish(number, service) } }
    static func publish(_ number: Int64, _ service: EventService) throws {
        if number % 2 == 1 {
            try service.publish(Gauged(number: number, value: Double(number) / 4, kind: Int32(number % 5)))
        } else {
            try service.publish(Named(number: number, text: "label \(number)"))
        }
    }
    func stop() async throws {
        running.cancel()
        try await running.value
    }
    func relay() throws -> EventRelay {
        try EventRelay(following: Self.name, on: bus.bus, interfaces: Gauge1.self)
    }
}

/// What comes of both events, as text, in its order.
final class GaugeLog: Sendable {
    private let lines = Mutex<[String]>([])
    private let subscriptions = Mutex<[Subscription]>([])
    private let hook: @Sendable (Int64) -> Void

    /// - Parameter hook: called with each event's number, on the thread that delivers.
    init(_ publisher: EventPublisher, hook: @escaping @Sendable (Int64) -> Void = { _ in }) {
        self.hook = hook
        let sampled = publisher.subscribe(to: Gauged.self, delivery: .immediate) { [weak self] event in
            #expect(
                event == Gauged(number: event.number, value: Double(event.number) / 4, kind: Int32(event.number % 5)))
            self?.note("\(event.number)")
            self?.hook(event.number)
        } onGap: { [weak self] in
            self?.note(Self.text($0))
        }
        // A gap comes once for each subscription: one of them tells it.
        let labelled = publisher.subscribe(to: Named.self, delivery: .immediate) { [weak self] event in
            #expect(event.text == "label \(event.number)")
            self?.note("\(event.number)")
            self?.hook(event.number)
        } onGap: { _ in
        }
        subscriptions.withLock { $0 = [sampled, labelled] }
    }
    private func note(_ line: String) { lines.withLock { $0.append(line) } }
    static func text(_ gap: Gap) -> String {
        let upper = gap.sequences.upperBound == .max ? "" : "\(gap.sequences.upperBound)"
        return "gap \(gap.sequences.lowerBound)-\(upper) \(gap.reason.rawValue)"
    }
    var all: [String] { lines.withLock { $0 } }
    func wait(for line: String) async -> Bool { await eventually { lines.withLock { $0.contains(line) } } }
    func end() { subscriptions.withLock { $0 = [] } }
    static func numbers(_ range: ClosedRange<Int64>) -> [String] { range.map { "\($0)" } }
}

extension EventRelay {
    /// How an interface's events come at the moment.
    func phase(of interface: String) -> TransportChoice.Phase? {
        let core = follower.core
        return core.loop.withTurn { core.streams[interface]?.inlets.choice.phase }
    }
    func rules() -> [String] {
        let core = follower.core
        return core.loop.withTurn { core.owner.connection?.rules.keys.map(\.description) ?? [] }
    }
    var ringThread: RingThread? {
        let core = follower.core
        return core.loop.withTurn { core.rings.thread }
    }
    func isOnRing(_ interface: String = Gauge1.name) async -> Bool {
        await eventually { phase(of: interface) == .direct }
    }
    /// In step with the service.
    func isLive(_ interface: String = Gauge1.name) async -> Bool {
        let core = follower.core
        // What was subscribed to before is known behind this.
        await withCheckedContinuation { continuation in core.loop.execute { continuation.resume() } }
        return await eventually {
            core.loop.withTurn {
                core.streams[interface]?.members.allSatisfy {
                    $0.machine.isFollowing && !$0.machine.awaitsAnswer
                } ?? false
            }
        }
    }
}

/// A relay whose handler was held until the ring had been overwritten: it has received the first and the last of 20,000
/// events, and gaps in the places of others.
struct LappedGauge {
    let meter: GaugeService
    let relay: EventRelay
    let log: GaugeLog

    init() async throws {
        meter = try await GaugeService()
        relay = try meter.relay()
        let (isIn, mayGo) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        log = GaugeLog(relay.publisher) { number in
            if number == 1 {
                isIn.signal()
                mayGo.wait()
            }
        }
        relay.activate()
        #expect(await relay.isOnRing())
        #expect(await relay.isLive())
        try meter.publish(1...1)
        #expect(await eventually { isIn.wait(timeout: .now()) == .success })
        try meter.publish(2...20_000)
        mayGo.signal()
        #expect(await log.wait(for: "20000"))
    }
}
