import Testing

@testable import RelayCore
@testable import RelayTestKit
import RelayWire

/// The log that stands in for a journal pages like one, or the tests that rest on it show nothing.
@Suite("The log in memory") struct MemoryLogTests {
    private final class NoStream: CommittedEventSink {
        func emit(_ events: [(event: LoggedEvent, stamp: Stamp)]) {}
        func pruned(_ last: [String: UInt64]) {}
    }
    private func begin(_ stream: inout MemoryStream, _ epoch: UInt64, _ names: [String] = ["A", "B"]) {
        let events = names.map { EventSchema(event: $0, fields: []) }
        _ = stream.begin(
            LoggedInterface(name: "x", epoch: epoch, retention: .standard, events: events, stream: NoStream()))
    }
    private func page(
        _ stream: MemoryStream, after: UInt64, _ names: Set<String>? = nil, limit: Int = 100, bytes: Int = 1 << 20
    ) -> String {
        let page = stream.page(
            LogRequest(interface: "x", names: names, after: after, limit: limit, byteLimit: bytes))
        return
            "\(page.epoch): \(page.events.map(\.sequence)) through \(page.through) of \(page.head), from \(page.oldest)"
    }

    private func append(_ event: Int, _ stream: inout MemoryStream) {
        var fields = WireWriter()
        _ = stream.append(LoggedEvent(event, &fields), at: .now)
    }

    @Test("pages are of one run, as long as allowed, and say how far they go") func pages() {
        var stream = MemoryStream()
        begin(&stream, 11)
        #expect(page(stream, after: 0) == "11: [] through 0 of 0, from 1")
        for event in [0, 1, 0] { append(event, &stream) }
        begin(&stream, 12)
        begin(&stream, 13)
        #expect(page(stream, after: 3) == "11: [] through 3 of 3, from 1")
        for event in [1, 1] { append(event, &stream) }
        #expect(page(stream, after: 0) == "11: [1, 2, 3] through 3 of 5, from 1")
        #expect(page(stream, after: 3) == "13: [4, 5] through 5 of 5, from 1")
        #expect(page(stream, after: 1, limit: 1) == "11: [2] through 2 of 5, from 1")
        #expect(page(stream, after: 0, ["A"]) == "11: [1, 3] through 3 of 5, from 1")
        #expect(page(stream, after: 3, ["A"]) == "13: [] through 5 of 5, from 1")
        #expect(page(stream, after: 1, ["B"]) == "11: [2] through 3 of 5, from 1")
        #expect(page(stream, after: 2, ["B"]) == "13: [4, 5] through 5 of 5, from 1")
        #expect(page(stream, after: 9) == "13: [] through 9 of 5, from 1")
        #expect(page(stream, after: 0, bytes: 60) == "11: [1, 2] through 2 of 5, from 1")
        #expect(page(stream, after: 0, bytes: 1) == "11: [1] through 1 of 5, from 1")
        #expect(stream.prune(through: 2) == ["A": 1, "B": 2])
        #expect(page(stream, after: 0) == "11: [3] through 3 of 5, from 3")
        #expect(page(stream, after: 0, ["A"]) == "11: [3] through 3 of 5, from 2")
        #expect(stream.prune(through: 9) == ["A": 3, "B": 5])
        #expect(page(stream, after: 1) == "13: [] through 5 of 5, from 6")
    }
    @Test("a schema has a number for good, and of one name the highest is the present one") func schemas() {
        var stream = MemoryStream()
        func numbers(_ fields: [String]) throws -> [UInt32: EventSchema] {
            let schema = EventSchema(event: "A", fields: try fields.map { try WireField(parsing: $0) })
            return stream.begin(
                LoggedInterface(name: "x", epoch: 1, retention: .standard, events: [schema], stream: NoStream())
            ).schemas
        }
        #expect(throws: Never.self) {
            #expect(try numbers(["a:i"]).keys.sorted() == [1])
            #expect(try numbers(["a:i"]).keys.sorted() == [1])
            #expect(try numbers(["a:i", "b:s"]).keys.sorted() == [1, 2])
            let back = try numbers(["a:i"])
            #expect(back.keys.sorted() == [1, 2, 3] && back[3] == back[1])
        }
    }
}
