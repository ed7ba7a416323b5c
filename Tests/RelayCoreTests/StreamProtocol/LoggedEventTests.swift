import Testing

@testable import RelayCore
import RelayWire

@Suite("An event for the log") struct LoggedEventTests {
    @Test("its body has the fields, padding, and the stamp of its place", arguments: 0...17) func entered(
        count: Int
    ) {
        var fields = WireWriter()
        fields.append([UInt8](repeating: 7, count: count))
        var event = LoggedEvent(3, &fields)
        let stamp = (count + 7) / 8 * 8
        #expect(fields.count == 0 && event.fieldsLength == count && event.body.count == stamp + 24)
        #expect(event.body[..<count].allSatisfy { $0 == 7 } && event.body[count...].allSatisfy { $0 == 0 })
        event.enter(Stamp(epoch: 7, sequence: 1, previous: 2, publishedAt: Timestamp(microseconds: 3)))
        let other = event
        let place = Stamp(
            epoch: 7, sequence: 0x0102_0304_0506_0708, previous: 9, publishedAt: Timestamp(microseconds: .max))
        event.enter(place)
        #expect(event.index == 3)
        #expect(event.body.withUnsafeBytes { Stamp(endOf: $0, epoch: 7) } == place)
        #expect(event.body[..<stamp] == other.body[..<stamp])
        #expect(Array(event.body[stamp..<stamp + 8]) == [8, 7, 6, 5, 4, 3, 2, 1])
        #expect(Array(event.body[(stamp + 8)...]) == [9, 0, 0, 0, 0, 0, 0, 0] + [UInt8](repeating: 255, count: 8))
        // A copy is its own.
        #expect(Array(other.body[stamp...]) == [1, 2, 3].flatMap { [$0, 0, 0, 0, 0, 0, 0, 0] })
    }
    @Test("a writer that was emptied writes on") func emptied() {
        var writer = WireWriter()
        writer.uint32(1)
        #expect(writer.takeBytes() == [1, 0, 0, 0])
        writer.uint64(2)
        #expect(writer.takeBytes() == [2, 0, 0, 0, 0, 0, 0, 0] && writer.takeBytes() == [])
    }
}
