import RelayTestKit
import TestTraits
import Testing

@testable import RelayCore
import RelayWire

@Suite("Events without Swift types", .heavy, .tags(.g1, .g2)) struct EnvelopeStreamTests {
    private static func text(_ delivery: EventOrGap<Envelope>) throws -> String {
        switch delivery {
        case .event(let event, let stamp):
            "\(stamp.sequence) \(event.name) \(try event.values()) \((event.fields ?? []).map(\.description))"
        case .gap(let gap): "gap \(gap.sequences) \(gap.reason.rawValue)"
        }
    }
    private static func take(_ count: Int, _ stream: EventStream<Envelope>) async throws -> [String] {
        var all: [String] = []
        for await delivery in stream {
            all.append(try text(delivery))
            if all.count == count { break }
        }
        return all
    }
    private static func booked(_ number: Int64) -> String {
        "\(number) Booked \([DBusValue.int64(number), .string("x")]) \(["number:x", "text:s"])"
    }

    @Test("kept events come from the journal, later ones live, by signal or by ring", arguments: [false, true])
    func durable(usesRings: Bool) async throws {
        let desk = try await DurableDesk()
        for number in 1...3 { try await desk.service.publish(Booked(number: Int64(number), text: "x")) }
        let relay = try EventRelay(following: DurableDesk.name, on: desk.bus.bus, usesRings: usesRings)
        let stream = try relay.envelopes(of: Ledger1.name, from: .beginning)
        let named = try relay.envelopes(of: Ledger1.name, named: ["Struck"], from: .beginning)
        relay.activate()
        #expect(try await Self.take(3, stream) == (1...3).map(Self.booked))
        try await desk.service.publish(Booked(number: 4, text: "x"))
        try await desk.service.publish(Struck(number: 9))
        #expect(
            try await Self.take(2, stream)
                == [Self.booked(4), "5 Struck \([DBusValue.int64(9)]) \(["number:x"])"])
        #expect(try await Self.take(1, named) == ["5 Struck \([DBusValue.int64(9)]) \(["number:x"])"])
        relay.invalidate()
        try await desk.stop()
    }
    @Test("from the beginning, it begins with the oldest event that is kept") func pruned() async throws {
        let desk = try await DurableDesk()
        for number in 1...3 { try await desk.service.publish(Booked(number: Int64(number), text: "x")) }
        desk.log.storage.prune(Ledger1.name, through: 2)
        let relay = try EventRelay(following: DurableDesk.name, on: desk.bus.bus)
        let stream = try relay.envelopes(of: Ledger1.name, from: .beginning)
        relay.activate()
        let seen = try await Self.take(1, stream)
        #expect(seen == [Self.booked(3)])
        relay.invalidate()
        try await desk.stop()
    }
    @Test("a volatile interface of fixed-layout events is read from its ring, with the fields' values")
    func ring() async throws {
        let gauge = try await GaugeService()
        let relay = try EventRelay(following: GaugeService.name, on: gauge.bus.bus)
        let stream = try relay.envelopes(of: Gauge1.name, named: ["Gauged"])
        relay.activate()
        try await relay.barrier()
        try gauge.service.publish(Gauged(number: 3, value: 0.5, kind: 2))
        var values: [DBusValue] = []
        for await case .event(let event, _) in stream {
            values = try event.values()
            break
        }
        #expect(values == [.int64(3), .double(0.5), .int32(2), .uint32(7)])
        relay.invalidate()
        try await gauge.stop()
    }
    @Test("a relay reads the contracts of its service, and another service has them") func contracts() async throws {
        let desk = try await DurableDesk()
        let relay = try EventRelay(following: DurableDesk.name, on: desk.bus.bus)
        relay.activate()
        let contracts = try await relay.contracts()
        #expect(contracts.map(\.name) == [Ledger1.name, Plain1.name].sorted())
        let ledger = try #require(contracts.first { $0.name == Ledger1.name })
        #expect(try ledger == ContractText(of: Ledger1.self) && ledger.description == ledger.text)
        let copy = try EventService(
            "org.example.Copy", desk.bus.bus, untyped: contracts.map { UntypedInterface($0) }, journal: MemoryLog(),
            readOnly: "it is a copy"
        ) { _ in }
        #expect(copy.core.contract.body == desk.service.core.contract.body)
        relay.invalidate()
        try await desk.stop()
    }
    @Test("a name that no interface has is refused") func badName() throws {
        let relay = try EventRelay(following: DurableDesk.name, on: .session)
        let error = #expect(throws: RelayError.self) { _ = try relay.envelopes(of: "none") }
        #expect(error?.code == .invalidArgument)
    }
}
