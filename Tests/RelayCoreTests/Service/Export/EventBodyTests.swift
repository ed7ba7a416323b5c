import Testing

@testable import RelayCore

@Suite("The body of an event") struct EventBodyTests {
    @Test("it has the fields, padding, and the stamp that was filled in last", arguments: 0...17) func stamped(
        count: Int
    ) {
        var fields = WireWriter()
        fields.append([UInt8](repeating: 7, count: count))
        var body = EventBody(&fields)
        let stamp = (count + 7) / 8 * 8
        #expect(fields.count == 0 && body.fieldsLength == count && body.bytes.count == stamp + 24)
        #expect(body.bytes[..<count].allSatisfy { $0 == 7 } && body.bytes[count...].allSatisfy { $0 == 0 })
        body.stamp(1, previous: 2, at: 3)
        let other = body
        body.stamp(0x0102_0304_0506_0708, previous: 9, at: .max)
        #expect(body.bytes[..<stamp] == other.bytes[..<stamp])
        #expect(Array(body.bytes[stamp..<stamp + 8]) == [8, 7, 6, 5, 4, 3, 2, 1])
        #expect(Array(body.bytes[(stamp + 8)...]) == [9, 0, 0, 0, 0, 0, 0, 0] + [UInt8](repeating: 255, count: 8))
        // A copy is its own.
        #expect(Array(other.bytes[stamp...]) == [1, 2, 3].flatMap { [$0, 0, 0, 0, 0, 0, 0, 0] })
    }
    @Test("a writer that was emptied writes on") func emptied() {
        var writer = WireWriter()
        writer.uint32(1)
        #expect(writer.takeBytes() == [1, 0, 0, 0])
        writer.uint64(2)
        #expect(writer.takeBytes() == [2, 0, 0, 0, 0, 0, 0, 0] && writer.takeBytes() == [])
    }
}
