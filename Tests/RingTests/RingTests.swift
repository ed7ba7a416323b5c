import Glibc
import RelayCore
import TestTraits
import Testing

@Suite("The ring", .heavy, .tags(.g1, .g2)) struct RingTests {
    @Test("brings payloads and stamps, in order, with the predecessor of the same event") func basics() throws {
        let pair = try Pair(events: 2)
        var reader = try pair.reader()
        #expect(try reader.next() == .empty)
        #expect(news(reader) == false)
        let before = Timestamp.now
        for (index, kind) in [0, 1, 0, 1, 1].enumerated() {
            #expect(try pair.publish(pattern(UInt64(index + 1), index * 5), kind: kind) == UInt64(index + 1))
        }
        #expect(news(reader) == true)
        let (records, payloads, other, kinds) = try reader.drain()
        #expect(records.map(\.sequence) == [1, 2, 3, 4, 5])
        #expect(records.map(\.previous) == [0, 0, 1, 2, 4])
        #expect(kinds == [0, 1, 0, 1, 1])
        #expect(records.allSatisfy { $0.publishedAt >= before && $0.publishedAt <= .now })
        #expect(payloads == (0..<5).map { pattern(UInt64($0 + 1), $0 * 5) })
        #expect(other == [])
        #expect(reader.header.epoch == 7)
        #expect(try reader.position == reader.look() && reader.lag == 0)
    }
    @Test("carries records across its end from every offset") func wrapping() throws {
        // One word less than a power of two: the records' starts drift over all offsets.
        for size in [8, 40, 72, 520] {
            let pair = try Pair()
            var reader = try pair.reader()
            var offsets: Set<UInt64> = []
            for sequence in 1...UInt64(4_096 / 8 * 3) {
                offsets.insert(reader.position % 4_096)
                // Odd sizes between: the last word is filled up.
                let bytes = pattern(sequence, size + Int(sequence % 2))
                try pair.publish(bytes)
                let (step, payload) = try reader.step()
                guard case .record(_, let record) = step else {
                    Issue.record("\(step)")
                    return
                }
                #expect(record.sequence == sequence)
                #expect(payload == bytes)
            }
            // Gcd of the two sizes and the capacity decides; with steps of 8 all offsets are met.
            #expect(offsets.count >= 64)
        }
        let pair = try Pair()
        var reader = try pair.reader()
        var offsets: Set<UInt64> = []
        for sequence in 1...UInt64(4_096) {
            offsets.insert(reader.position % 4_096)
            let bytes = pattern(sequence, sequence % 7 == 0 ? 9 : 1)
            try pair.publish(bytes)
            #expect(try reader.step().1 == bytes)
        }
        #expect(offsets.count == 512)
    }
    @Test("tells a lapped reader exactly what it missed, and goes on at the oldest that is safe") func lapped() throws {
        for published in [100, 120, 1_000, 5_000] {
            let pair = try Pair()
            var reader = try pair.reader()
            for sequence in 1...UInt64(published) { try pair.publish(pattern(sequence, 24)) }
            let (records, payloads, other, _) = try reader.drain()
            let first = try #require(records.first?.sequence)
            #expect(records.map(\.sequence) == Array(first...UInt64(published)))
            #expect(payloads == (first...UInt64(published)).map { pattern($0, 24) })
            #expect(other == (first == 1 ? [] : [.lapped(1...first - 1)]))
            // 73 records of 56 bytes fit; the index is as fine as a record.
            #expect(records.count >= min(published, 70))
        }
    }
    @Test("laps a reader in the middle of its stream, again and again, without a hole untold") func lappedAgain() throws
    {
        let pair = try Pair(capacity: 8_192)
        var reader = try pair.reader()
        var random = SeededGenerator(seed: 4)
        var (expected, laps): (UInt64, Int) = (1, 0)
        for _ in 0..<400 {
            for _ in 0..<Int.random(in: 0...300, using: &random) {
                try pair.publish([UInt8](repeating: 1, count: Int.random(in: 0...120, using: &random)))
            }
            for _ in 0..<Int.random(in: 0...400, using: &random) {
                switch try reader.next() {
                case .record(_, let record):
                    #expect(record.sequence == expected)
                    expected = record.sequence + 1
                case .lapped(let range):
                    #expect(range.lowerBound == expected)
                    expected = range.upperBound + 1
                    laps += 1
                case .empty: break
                case let step: Issue.record("\(step)")
                }
            }
        }
        #expect(laps > 20)
    }
    @Test("leaves a record in the place of an event that is too large") func tooLarge() throws {
        let pair = try Pair()
        var reader = try pair.reader()
        let largest = RingLayout.maximumPayload(4_096)
        try pair.publish(pattern(1, largest))
        try pair.publish(pattern(2, largest + 1))
        try pair.publish(pattern(3, 1 << 20))
        try pair.publish(pattern(4, 3))
        #expect(try reader.step().1 == pattern(1, largest))
        for sequence: UInt64 in 2...3 {
            let (step, payload) = try reader.step()
            guard case .tooLarge(_, let record) = step else {
                Issue.record("\(step)")
                return
            }
            #expect(record.sequence == sequence && record.previous == sequence - 1 && payload == [])
        }
        #expect(try reader.step().1 == pattern(4, 3))
    }
    @Test("starts a reader behind what it has, and tells what it lacks") func starts() throws {
        let pair = try Pair(base: 100)
        var early = try pair.reader(after: 90)
        #expect(try early.next() == .absent(91...100))
        #expect(try early.next() == .empty)
        for sequence: UInt64 in 101...110 { #expect(try pair.publish([1]) == sequence) }
        #expect(try early.drain().records.map(\.sequence) == Array(101...110))
        for after: UInt64 in 95...112 {
            var reader = try pair.reader(after: after)
            let (records, _, other, _) = try reader.drain()
            #expect(records.map(\.sequence) == (after < 110 ? Array(max(101, after + 1)...110) : []))
            #expect(other == (after < 100 ? [.absent(after + 1...100)] : []))
            #expect(reader.sequence == max(after, 110))
        }
    }
    @Test("keeps the places that its events have already, and tells holes in them") func given() throws {
        let pair = try Pair(base: 5)
        var reader = try pair.reader(after: 5)
        func publish(_ sequence: UInt64, _ previous: UInt64) throws {
            let stamp = Stamp(
                epoch: 1, sequence: sequence, previous: previous, publishedAt: Timestamp(microseconds: sequence))
            try [UInt8](repeating: 0, count: 8).withUnsafeBytes { try pair.writer.publish(0, stamp, $0) }
        }
        try publish(6, 2)
        try publish(9, 6)
        for (sequence, previous): (UInt64, UInt64) in [(9, 6), (3, 2), (12, 12), (0, 0)] {
            #expect(throws: RelayError.self) { try publish(sequence, previous) }
        }
        let (records, _, other, _) = try reader.drain()
        #expect(records.map(\.sequence) == [6, 9])
        #expect(records.map(\.previous) == [2, 6])
        #expect(records.map(\.publishedAt.microseconds) == [6, 9])
        #expect(other == [.absent(7...8)])
    }
    @Test("a reader that gives up what is there reports it with the next record") func skipped() throws {
        let pair = try Pair()
        for sequence: UInt64 in 1...9 { try pair.publish(pattern(sequence, 30)) }
        var reader = try pair.reader()
        _ = try reader.next()
        try reader.skip()
        #expect(try reader.next() == .empty)
        try pair.publish([1])
        #expect(try reader.next() == .lapped(2...9))
        #expect(try reader.step().1 == [1])
        try reader.skip()
        try pair.publish([2])
        #expect(try reader.step().1 == [2])
    }
    @Test("ends: readers drain it and are told, once and for all") func end() throws {
        let pair = try Pair()
        var reader = try pair.reader()
        var late = try pair.reader()
        try pair.publish([1])
        #expect(try reader.step().1 == [1])
        pair.writer.end()
        #expect(news(reader) == true)
        #expect(try reader.next() == .ended)
        #expect(news(reader) == false)
        #expect(try reader.next() == .ended)
        #expect(try late.step().1 == [1])
        #expect(try late.next() == .ended)
        var after = try pair.reader(after: 1)
        #expect(try after.next() == .ended)
        #expect(throws: RelayError.self) { try pair.publish([2]) }
    }
    @Test("ends with its writer, and outlives it") func release() throws {
        var pair: Pair? = try Pair()
        var reader = try pair!.reader()
        try pair?.publish([1, 2])
        pair = nil
        #expect(try reader.step().1 == [1, 2])
        #expect(try reader.next() == .ended)
    }
    @Test("refuses what it cannot carry, with the reason") func refusals() throws {
        let waker = RingWaker()
        for capacity in [0, -1, 100, 2_048, 4_097, 12_288, 1 << 31, Int.max] {
            #expect(throws: RelayError.self) {
                _ = try RingWriter("test", events: [], capacity: capacity, epoch: 1, waker: waker)
            }
        }
        let ring = try RingWriter("test", events: [try RingEvent(Sample.self)], epoch: 1, waker: waker)
        for (kind, count) in [(0, 23), (0, 25), (0, 0), (1, 24), (-1, 24), (Int.max, 24)] {
            #expect(throws: RelayError.self) { try pattern(1, count).withUnsafeBytes { try ring.publish(kind, $0) } }
        }
        #expect(try pattern(1, 24).withUnsafeBytes { try ring.publish(0, $0) } == 1)
    }
    @Test("is read by everyone who has its descriptor, each at its own pace") func readers() throws {
        let pair = try Pair(capacity: 1 << 16)
        var first = try pair.reader()
        var second = try pair.reader()
        for sequence: UInt64 in 1...10 { try pair.publish(pattern(sequence, 8)) }
        #expect(try first.drain().records.count == 10)
        for sequence: UInt64 in 11...20 { try pair.publish(pattern(sequence, 8)) }
        #expect(try second.drain().records.count == 20)
        #expect(try first.drain().records.count == 10)
    }
    @Test("lists its events, and refuses a list that is damaged") func directory() throws {
        let events = [try RingEvent(Sample.self), try RingEvent(Note.self)]
        let ring = try RingWriter("test", events: events, epoch: 1, ringIndex: 7, waker: RingWaker())
        let area = try RingArea(receiving: ring.descriptor)
        #expect(area.header.events == events)
        #expect(area.header == ring.header)
        #expect(events.map(\.rawSize) == [24, nil])
        let many = (0..<500).map { (number: Int) in
            RingEvent(name: "Event\(number)", rawSize: number, layout: "value:u\(number)")
        }
        let large = try RingWriter("test", events: many, capacity: 4_096, epoch: 1, waker: RingWaker())
        #expect(try RingArea(receiving: large.descriptor).header.events == many)
    }
}
