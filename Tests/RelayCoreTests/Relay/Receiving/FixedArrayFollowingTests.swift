import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore
import RelayWire

/// One interface of samples, by whatever stream, as programs of several versions have it.
protocol Scope: EventInterface where Durability == Volatile {}
extension Scope {
    static var durability: Volatile { Volatile() }
    static var signalBudget: SignalBudget { .unlimited }
}
/// Of which programs without the type know nothing: by the ring, or by signals alone.
enum Scope1<let ring: Int, Event: ScopeEvent>: Scope {
    static var name: String { "org.example.Scope1" }
    static var ringCapacity: Int { ring }
    static var contract: Contract<Self> { Captured<ring, Event>.self }
}
protocol ScopeEvent: Codable, Sendable, Equatable {}
/// As bytes in the ring.
protocol RawScopeEvent: ScopeEvent, BitwiseCopyable {}
struct Captured<let ring: Int, Event: ScopeEvent>: DomainEvent {
    typealias Interface = Scope1<ring, Event>
    static var name: String { "Captured" }
    var event: Event
    init(_ event: Event) { self.event = event }
    init(from decoder: any Decoder) throws { event = try Event(from: decoder) }
    func encode(to encoder: any Encoder) throws { try event.encode(to: encoder) }
}
extension Captured: BitwiseCopyable where Event: RawScopeEvent {}
extension Captured: FixedLayoutEvent where Event: RawScopeEvent {}

@Suite("Arrays of fixed length, from service to relay", .heavy) struct FixedArrayFollowingTests {
    struct Raw<let count: Int>: RawScopeEvent {
        var at: UInt64, samples: FixedArray<count, UInt64>, bins: FixedArray<16, Int8>, gains: FixedArray<2, Float>
    }
    struct Ordinary: ScopeEvent {
        var at: UInt64, samples: [UInt64], bins: [Int8], gains: [Float]
    }
    struct Fewer: RawScopeEvent {
        var gains: FixedArray<2, Float>, samples: FixedArray<508, UInt64>
    }
    static func raw(_ number: UInt64) -> Raw<508> {
        Raw(
            at: number, samples: FixedArray { number << 32 | UInt64($0) }, bins: FixedArray { Int8($0 * 17 - 128) },
            gains: FixedArray([0.5, Float(number)]))
    }
    static func ordinary(_ raw: Raw<508>) -> Ordinary {
        Ordinary(at: raw.at, samples: Array(raw.samples), bins: Array(raw.bins), gains: Array(raw.gains))
    }

    private struct Seen<R: Sendable>: Sendable {
        var events: [R] = []
        var gaps: [Gap] = []
    }
    /// What a relay of one version sees of two events of a service of another, and the stream that brought them.
    private func seen<let ring: Int, W: ScopeEvent, R: ScopeEvent>(
        _ values: [W], _ relayed: Captured<ring, R>.Type
    ) async throws -> (events: [R], gaps: [Gap], phase: TransportChoice.Phase?) {
        let (bus, name) = (try PrivateBus(), "org.example.Scope")
        let service = try EventService(name: name, on: bus.bus, exporting: Scope1<ring, W>.self)
        let relay = try EventRelay(following: name, on: bus.bus, interfaces: Scope1<ring, R>.self)
        let seen = Mutex(Seen<R>())
        let subscription = relay.publisher.subscribe(to: relayed, delivery: .immediate) { event in
            seen.withLock { $0.events.append(event.event) }
        } onGap: { gap in
            seen.withLock { $0.gaps.append(gap) }
        }
        relay.activate()
        let running = Task { try await service.run() }
        let stream: TransportChoice.Phase = ring > 0 ? .direct : .signals
        let interface = Scope1<ring, R>.name
        #expect(await eventually { relay.phase(of: interface) == stream })
        #expect(await relay.isLive(interface))
        for value in values { try service.publish(Captured<ring, W>(value)) }
        #expect(await eventually { seen.withLock { $0.events.count + $0.gaps.count >= values.count } })
        let phase = relay.phase(of: interface)
        withExtendedLifetime(subscription) {}
        running.cancel()
        try await running.value
        return seen.withLock { ($0.events, $0.gaps, phase) }
    }
    private func check<let ring: Int>(_ stream: Captured<ring, Raw<508>>.Type) async throws {
        let values = [Self.raw(1), Self.raw(2)]
        let same = try await seen(values, Captured<ring, Raw<508>>.self)
        #expect(same.events == values && same.gaps == [])
        // What declares an ordinary array, or another choice of the fields, has the same events; either way around.
        let ordinary = try await seen(values, Captured<ring, Ordinary>.self)
        #expect(ordinary.events == values.map(Self.ordinary) && ordinary.gaps == [])
        let fixed = try await seen(values.map(Self.ordinary), Captured<ring, Raw<508>>.self)
        #expect(fixed.events == values && fixed.gaps == [])
        let fewer = try await seen(values, Captured<ring, Fewer>.self)
        #expect(fewer.events == values.map { Fewer(gains: $0.gains, samples: $0.samples) } && fewer.gaps == [])
        // Another length is a gap for each event, which names the field; the stream goes on.
        let longer = try await seen(values, Captured<ring, Raw<509>>.self)
        #expect(longer.events == [] && longer.gaps.map(\.sequences) == [1...1, 2...2])
        #expect(longer.gaps.allSatisfy { $0.reason == .schemaMismatch })
        let detail = longer.gaps.first?.detail ?? ""
        #expect(detail.hasSuffix(".samples cannot be read: 508 elements came, 509 are declared"), "\(detail)")
        var mixed = values.map(Self.ordinary)
        mixed.insert(Ordinary(at: 3, samples: [1], bins: [], gains: []), at: 1)
        let between = try await seen(mixed, Captured<ring, Raw<508>>.self)
        #expect(between.events == values && between.gaps.map(\.sequences) == [2...2])
    }
    @Test("by the ring, whoever declares the field as it likes has every event") func ring() async throws {
        try await check(Captured<65_536, Raw<508>>.self)
    }
    @Test("by signals it is the same") func signals() async throws { try await check(Captured<0, Raw<508>>.self) }

    @Test("in the ring lie the bytes themselves; who knows no types has an ordinary array") func untyped() async throws
    {
        let (bus, name) = (try PrivateBus(), "org.example.Scope")
        typealias Event = Captured<65_536, Raw<508>>
        let service = try EventService(name: name, on: bus.bus, exporting: Event.Interface.self)
        let seen = Mutex<[Envelope]>([])
        let follower = try ServiceFollower(service: name, on: bus.bus) { output in
            if case .event(let envelope) = output { seen.withLock { $0.append(envelope) } }
        }
        follower.follow(interface: Event.Interface.name, names: nil)
        let running = Task { try await service.run() }
        follower.activate()
        #expect(
            await eventually {
                follower.loop.withTurn {
                    follower.core.streams[Event.Interface.name]?.inlets.choice.phase == .direct
                }
            })
        var ring = try await RingPeer.join(bus.bus).openRing(name, Event.Interface.name)
        #expect(
            ring.header.events == [
                RingEvent(name: "Captured", rawSize: 4_096, layout: "at:u8,samples:u8*508,bins:i1*16,gains:f4*2")
            ])
        let value = Self.raw(7)
        try service.publish(Event(value))
        #expect(await eventually { seen.withLock { $0.count == 1 } })
        guard case .record = try ring.next() else {
            Issue.record("no record")
            return
        }
        #expect(withUnsafeBytes(of: value) { $0.elementsEqual(ring.payload) })
        let envelope = try #require(seen.withLock { $0.first })
        #expect(envelope.transport == .ring && envelope.signature == "tatanadttt")
        let values = try DBusValue.decode(signature: try Signature(envelope.signature), body: envelope.body)
        #expect(values[0] == .uint64(7))
        #expect(values[1] == .array(.uint64, value.samples.map { .uint64($0) }))
        #expect(values[2] == .array(.int16, value.bins.map { .int16(Int16($0)) }))
        #expect(values[3] == .array(.double, [.double(0.5), .double(7)]))
        running.cancel()
        try await running.value
    }
}
