import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore
import RelayWire

/// What every transport keeps, tried at the service's end by a peer that knows the protocol and no more. What only
/// one of them does is in a suite of its own (`SignalBudgetTests`, `RingTransportTests`).
@Suite("Every transport, from the service's end", .heavy, .tags(.g1, .g2)) struct OutletTests {
    enum Transport: String, CaseIterable, Sendable { case signal, ring }

    /// An event as it came.
    struct Seen: Hashable, Sendable {
        let name: String
        let sequence: UInt64
        let previous: UInt64
        let publishedAt: UInt64
        let fields: [DBusValue]
    }
    private final class Ring {
        var reader: RingReader
        init(_ reader: consuming RingReader) { self.reader = reader }
    }
    /// A peer that gets an interface's events by one transport.
    private struct Reader {
        let peer: RingPeer
        /// Nil: signals.
        private let ring: Ring?
        private var records: [Seen] = []

        init(_ transport: Transport, _ interface: String, on bus: Bus) async throws {
            peer = try await RingPeer.join(bus)
            switch transport {
            case .ring: ring = Ring(try await peer.openRing(RingDesk.name, interface))
            case .signal:
                ring = nil
                for name in [interface, Stream1.name] { try await peer.stranger.listen(name) }
            }
        }
        /// All that came so far, once it has come up to a sequence.
        mutating func events(through last: UInt64) async throws -> [Seen] {
            guard let ring else {
                let peer = peer
                func seen() -> [Seen] {
                    peer.stranger.signals.compactMap { signal in
                        let stamp = signal.values.suffix(3).compactMap { value -> UInt64? in
                            if case .uint64(let number) = value { number } else { nil }
                        }
                        guard signal.member != "Head", signal.member != "End", stamp.count == 3 else { return nil }
                        return Seen(
                            name: signal.member, sequence: stamp[0], previous: stamp[1], publishedAt: stamp[2],
                            fields: Array(signal.values.dropLast(3)))
                    }
                }
                #expect(await eventually { seen().last?.sequence ?? 0 >= last })
                return seen()
            }
            if records.last?.sequence ?? 0 < last {
                let header = ring.reader.header
                for record in try await peer.drain(&ring.reader, to: last) {
                    let event = header.events[record.kind]
                    let fields = try record.payload.withUnsafeBytes { payload -> [DBusValue] in
                        if event.rawSize != nil {
                            let value = payload.loadUnaligned(as: Metered.self)
                            return [DBusValue.double(value.value), .uint64(value.number)]
                        }
                        return try DBusValue.decode(
                            signature: Signature(event.name == "Weighed" ? "d" : "s"), body: payload)
                    }
                    records.append(
                        Seen(
                            name: event.name, sequence: record.sequence, previous: record.previous,
                            publishedAt: record.publishedAt.microseconds, fields: fields))
                }
            }
            return records
        }
        /// Whether the last word has come, with nothing between it and this sequence.
        mutating func ends(at last: UInt64) async throws -> Bool {
            guard let ring else {
                let peer = peer
                return await eventually {
                    let ends = peer.stranger.signals.filter { $0.member == "End" }
                    return ends.contains { $0.values.dropFirst().first == .uint64(last) }
                }
            }
            return try ring.reader.next() == .ended
        }
    }
    /// Sequences without a hole, each event's predecessor the last of its name, and times that do not run back.
    private static func check(_ events: [Seen], from first: UInt64 = 1, through last: UInt64) {
        #expect(events.map(\.sequence) == Array(first...last))
        var latest: [String: UInt64] = [:]
        var time: UInt64 = 0
        for event in events {
            if let previous = latest[event.name] { #expect(event.previous == previous) }
            #expect(event.previous < event.sequence && event.publishedAt >= time)
            (latest[event.name], time) = (event.sequence, event.publishedAt)
        }
    }

    @Test("events come whole, in one order, each once, whichever threads publish", arguments: Transport.allCases)
    func order(_ transport: Transport) async throws {
        let desk = try await RingDesk()
        var reader = try await Reader(transport, Meter1.name, on: desk.bus.bus)
        let (publishers, count) = (4, 120)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for publisher in 0..<publishers {
                group.addTask {
                    for number in 0..<count {
                        if number % 3 == 0 {
                            try desk.service.publish(Labelled(text: "\(publisher) \(number)"))
                        } else {
                            try desk.service.publish(Metered(value: Double(publisher), number: UInt64(number)))
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        let events = try await reader.events(through: UInt64(publishers * count))
        Self.check(events, through: UInt64(publishers * count))
        var numbers = [[Int]](repeating: [], count: publishers)
        for event in events {
            if case .string(let text)? = event.fields.first, event.name == "Labelled", event.fields.count == 1 {
                let parts = text.split(separator: " ").compactMap { Int($0) }
                numbers[parts[0]].append(parts[1])
            } else if case (.double(let publisher), .uint64(let number)) = (event.fields[0], event.fields[1]) {
                #expect(event.name == "Metered" && event.fields.count == 2)
                numbers[Int(publisher)].append(Int(number))
            } else {
                Issue.record("\(event)")
            }
        }
        #expect(numbers == [[Int]](repeating: Array(0..<count), count: publishers))
        try await desk.stop()
    }
    @Test("committed events come as they were committed, in the order of the log", arguments: Transport.allCases)
    func committed(_ transport: Transport) async throws {
        let desk = try await RingDesk()
        var reader = try await Reader(transport, SmallLedger1.name, on: desk.bus.bus)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for publisher in 0..<4 {
                group.addTask {
                    try await desk.service.publish(Entered(text: "\(publisher)"))
                    try await desk.service.publish(contentsOf: (0..<10).map { Weighed(weight: Double($0)) })
                }
            }
            try await group.waitForAll()
        }
        let events = try await reader.events(through: 44)
        Self.check(events, through: 44)
        #expect(Set(events.filter { $0.name == "Entered" }.map(\.fields)) == Set((0..<4).map { [.string("\($0)")] }))
        // A batch stays together.
        let weights = events.filter { $0.name == "Weighed" }.map(\.fields)
        #expect(weights == (0..<40).map { [.double(Double($0 % 10))] })
        try await desk.stop()
    }
    @Test("what is refused takes no place, and what is too late is refused", arguments: Transport.allCases)
    func refusals(_ transport: Transport) async throws {
        let desk = try await RingDesk()
        var reader = try await Reader(transport, Meter1.name, on: desk.bus.bus)
        try desk.service.publish(Labelled(text: "first"))
        #expect(throws: RelayError.self) { try desk.service.publish(Labelled(text: "a\0b")) }
        #expect(throws: RelayError.self) {
            try desk.service.publish(Labelled(text: String(repeating: "x", count: Meter1.ringCapacity)))
        }
        #expect(throws: RelayError.self) {
            try desk.service.publish(Labelled(text: String(repeating: "x", count: WireLimits.defaultMessageLength)))
        }
        try desk.service.publish(Labelled(text: "second"))
        let events = try await reader.events(through: 2)
        Self.check(events, through: 2)
        #expect(events.map(\.fields) == [[.string("first")], [.string("second")]])
        try await desk.stop()
        do {
            try desk.service.publish(Labelled(text: "late"))
            Issue.record("was published")
        } catch .unavailable {}
        #expect(try await reader.ends(at: 2))
        #expect(try await reader.events(through: 2).count == 2)
    }
    @Test("Status names what brings a peer its events", arguments: Transport.allCases)
    func status(_ transport: Transport) async throws {
        let desk = try await RingDesk()
        let reader = try await Reader(transport, Meter1.name, on: desk.bus.bus)
        let (stranger, path) = (reader.peer.stranger, Stream1.path(of: Meter1.name))
        _ = try await stranger.call(
            RingDesk.name, path, Stream1.name, "Attach",
            [.uint64(0), .uint64(0), .array(.string, [.string("*")]), AttachOptions().value])
        let subscribers = try desk.stream(Meter1.name).subscribers
        #expect(
            subscribers == [
                PublishedStream.Subscriber(
                    peer: stranger.connection.uniqueName, names: ["*"], transport: transport.rawValue, sequence: 0)
            ])
        try await desk.stop()
    }
}
