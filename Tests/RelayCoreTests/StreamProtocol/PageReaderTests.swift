import TestTraits
import Testing
import WireSupport

@testable import RelayCore
import RelayWire

@Suite("Pages of any events, sound and broken", .tags(.g2, .g8)) struct PageReaderTests {
    @Test("pages of events in any mixture are read whole; a broken one only where D-Bus allows it") func pages() throws
    {
        let schemas: [UInt32: [WireField]] = [
            1: [WireField(name: "n", type: .int64)],
            2: [WireField(name: "s", type: .string), WireField(name: "b", type: .bool)],
            3: [
                WireField(name: "y", type: .byte), WireField(name: "q", type: .uint16),
                WireField(name: "a", type: .array(.string)),
            ],
        ]
        let values: [UInt32: [DBusValue]] = [
            1: [.int64(5)], 2: [.string("text"), .boolean(true)],
            3: [.byte(1), .uint16(2), .array(.string, [.string("a"), .string("")])],
        ]
        let signatures = try schemas.mapValues { try Stream1.bodySignature($0) }
        var random = SeededGenerator(seed: 11)
        var mutator = BodyMutator(seed: 11)
        var (read, refused) = (0, 0)
        for _ in 0..<TestForm.rounds(300, soak: 5_000) {
            var sequence: UInt64 = 0
            let events = try (0..<random.below(12)).map { _ -> LogPage.Event in
                sequence += 1
                let schema = UInt32(1 + random.below(3))
                var body = WireWriter()
                try DBusValue.encode(
                    (values[schema] ?? []) + [.uint64(sequence), .uint64(0), .uint64(1)], into: &body)
                return LogPage.Event(name: "Event\(schema)", schema: schema, sequence: sequence, body: body.bytes)
            }
            let page = LogPage(epoch: 9, events: events, oldest: 1, through: sequence, head: sequence)
            var writer = WireWriter()
            try Stream1.write(page, signatures: signatures, into: &writer)
            #expect(try Self.events(writer.bytes) == events.map { "\($0.name) \($0.schema) \($0.body)" })
            let broken = mutator.mutated(writer.bytes)
            if (try? Self.events(broken)) != nil {
                read += 1
                #expect(throws: Never.self) {
                    try DBusValue.decode(signature: try Signature(Stream1.pageSignature), body: broken)
                }
            } else {
                refused += 1
            }
        }
        #expect(read > 10 && refused > 10, "\(read) read, \(refused) refused")
    }
    private static func events(_ page: [UInt8]) throws -> [String] {
        try page.withUnsafeBytes { bytes in
            var reader = WireReader(bytes)
            var events: [String] = []
            _ = try Stream1.readPage(&reader) { events.append("\($0.name) \($0.schema) \(Array(page[$0.body]))") }
            return events
        }
    }
}
