import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore
import RelayWire

/// An interface and its event in as many versions as there are structures for `Fields`.
enum Evolving1<Fields: Codable & Sendable>: EventInterface {
    static var name: String { "org.example.Evolving1" }
    static var durability: Volatile { Volatile() }
    static var contract: Contract<Self> { Changed<Fields>.self }
}
struct Changed<Fields: Codable & Sendable>: DomainEvent {
    typealias Interface = Evolving1<Fields>
    static var name: String { "Changed" }
    var fields: Fields
    init(_ fields: Fields) { self.fields = fields }
    init(from decoder: any Decoder) throws { fields = try Fields(from: decoder) }
    func encode(to encoder: any Encoder) throws { try fields.encode(to: encoder) }
}

@Suite("Schemas that differ between the two sides", .heavy, .tags(.g8)) struct SchemaEvolutionTests {
    struct Base: Codable, Sendable, Equatable { var a: Int32, b: String }
    struct First: Codable, Sendable { var new: [Double], a: Int32, b: String }
    struct Middle: Codable, Sendable { var a: Int32, new: [Double], b: String }
    struct Last: Codable, Sendable { var a: Int32, b: String, new: [Double] }
    struct Turned: Codable, Sendable { var b: String, a: Int32 }
    struct WithOptional: Codable, Sendable, Equatable {
        var a: Int32
        var c: Int64?
        var b: String
    }
    struct WithRequired: Codable, Sendable { var a: Int32, c: Int64, b: String }
    struct Retyped: Codable, Sendable { var a: Int64, b: String }
    struct Maybe: Codable, Sendable {
        var a: Int32?
        var b: String
    }
    struct Nested: Codable, Sendable {
        struct Inner: Codable, Sendable { var x: Int32, y: Int32 }
        var a: Inner, b: String
    }
    struct NestedRenamed: Codable, Sendable {
        struct Inner: Codable, Sendable { var x: Int32, z: Int32 }
        var a: Inner, b: String
    }
    private struct Seen<R: Sendable>: Sendable {
        var events: [R] = []
        var gaps: [Gap] = []
        var isActive = false
        var isOver = false
    }

    /// What a relay of one version sees of two events of a service of another: all of it, in order.
    private func seen<W: Codable & Sendable, R: Codable & Sendable>(
        _ bus: PrivateBus, writing value: W, reading: R.Type
    ) async throws -> (events: [R], gaps: [Gap]) {
        let name = "org.example.Evolving"
        let service = try EventService(name: name, on: bus.bus, exporting: Evolving1<W>.self)
        let relay = try EventRelay(following: name, on: bus.bus, interfaces: Evolving1<R>.self)
        let seen = Mutex(Seen<R>())
        let subscriptions = [
            relay.publisher.subscribe(to: Changed<R>.self, delivery: .immediate) { event in
                seen.withLock { $0.events.append(event.fields) }
            } onGap: { gap in
                seen.withLock { $0.gaps.append(gap) }
            },
            relay.publisher.subscribe(to: EventRelay.State.self, delivery: .immediate) { state in
                switch state {
                case .active: seen.withLock { $0.isActive = true }
                case .interrupted: seen.withLock { $0.isOver = true }
                default: break
                }
            } onGap: { _ in
            },
        ]
        relay.activate()
        let running = Task { try await service.run() }
        #expect(await eventually { seen.withLock { $0.isActive } })
        for _ in 1...2 { try service.publish(Changed(value)) }
        #expect(await eventually { seen.withLock { $0.events.count == 2 || !$0.gaps.isEmpty } })
        running.cancel()
        try await running.value
        // A state comes behind the events before it.
        #expect(await eventually { seen.withLock { $0.isOver } })
        withExtendedLifetime(subscriptions) {}
        return seen.withLock { ($0.events, $0.gaps) }
    }

    @Test("fields that only the sender has, or in another order, do no harm, wherever they stand") func additions()
        async throws
    {
        let bus = try PrivateBus()
        let base = Base(a: 7, b: "seven")
        func check<W: Codable & Sendable>(_ value: W) async throws {
            let (events, gaps) = try await seen(bus, writing: value, reading: Base.self)
            #expect(events == [base, base] && gaps == [], "\(W.self)")
        }
        try await check(base)
        try await check(First(new: [1, 2], a: 7, b: "seven"))
        try await check(Middle(a: 7, new: [1, 2], b: "seven"))
        try await check(Last(a: 7, b: "seven", new: [1, 2]))
        try await check(Turned(b: "seven", a: 7))
        let (events, gaps) = try await seen(bus, writing: base, reading: WithOptional.self)
        let expected = WithOptional(a: 7, c: nil, b: "seven")
        #expect(events == [expected, expected] && gaps == [])
    }
    @Test("what cannot be read is one gap, which names event, field and both shapes") func mismatches() async throws {
        let bus = try PrivateBus()
        func check<W: Codable & Sendable, R: Codable & Sendable>(
            _ value: W, _ reading: R.Type, _ field: String, _ shapes: [String]
        ) async throws {
            let (events, gaps) = try await seen(bus, writing: value, reading: reading)
            #expect(events.isEmpty && gaps.count == 1, "\(W.self) to \(R.self): \(gaps)")
            #expect(gaps.first?.reason == .schemaMismatch && gaps.first?.sequences.lowerBound == 1)
            let detail = gaps.first?.detail ?? ""
            for part in ["Changed", "'\(field)'"] + shapes { #expect(detail.contains(part), "\(part): \(detail)") }
        }
        let base = Base(a: 7, b: "seven")
        try await check(base, WithRequired.self, "c", ["sender has none", "'x'"])
        try await check(base, Retyped.self, "a", ["sends 'i'", "reads 'x'"])
        try await check(Retyped(a: 7, b: ""), Base.self, "a", ["sends 'x'", "reads 'i'"])
        let (required, optional) = (try shape(Base.self), try shape(Maybe.self))
        #expect(required != optional)
        try await check(base, Maybe.self, "a", ["sends '\(required)'", "reads '\(optional)'"])
        try await check(Maybe(a: nil, b: ""), Base.self, "a", ["sends '\(optional)'", "reads '\(required)'"])
        try await check(Nested(a: .init(x: 1, y: 2), b: ""), NestedRenamed.self, "a.z", ["sender has none", "'i'"])
    }
    private func shape<F: Codable & Sendable>(_ type: F.Type) throws -> String {
        try WireSchema(event: Changed<F>.self).fields[0].type.shape
    }
}
