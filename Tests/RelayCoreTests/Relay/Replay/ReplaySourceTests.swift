import Synchronization
import TestTraits
import Testing

@testable import RelayCore
import RelayWire

@Suite("What a positioned subscription takes from", .tags(.g2)) struct ReplaySourceTests {
    /// Refuses negative numbers, and counts how often it is decoded.
    private struct Picky: DomainEvent {
        typealias Interface = Ledger1
        static let decoded = Atomic(0)
        let number: Int64

        init(from decoder: any Decoder) throws {
            number = try decoder.container(keyedBy: CodingKeys.self).decode(Int64.self, forKey: .number)
            Self.decoded.add(1, ordering: .relaxed)
            if number < 0 {
                throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "\(number) is negative"))
            }
        }
        enum CodingKeys: CodingKey { case number }
    }
    /// Of events with these numbers, whose sequences count from 1.
    private func page(_ numbers: [Int64]) throws -> KeptEvents {
        let signature = Array("xttt".utf8)
        var (bytes, entries): ([UInt8], [KeptEvents.Entry]) = (signature + [0, 0, 0, 0], [])
        for (index, number) in numbers.enumerated() {
            var body = WireWriter()
            let sequence = UInt64(index + 1)
            try DBusValue.encode(
                [.int64(number), .uint64(sequence), .uint64(sequence - 1), .uint64(1)], into: &body)
            entries.append(KeptEvents.Entry(kind: 0, body: bytes.count..<bytes.count + body.count))
            bytes += body.bytes
        }
        let kind = KeptEvents.Kind(0, schema: 1, of: nil, signature: 0..<4)
        return KeptEvents(page: bytes, entries, [kind], epoch: 1, through: UInt64(numbers.count), nil)
    }
    private func line(_ taken: ReplaySource<Picky>.Taken) -> String {
        switch taken {
        case .event(let event, let stamp): "\(stamp.sequence): \(event.number)"
        case .gap(let gap): "gap \(gap.sequences) (\(gap.count ?? 0))"
        case .caughtUp: "caught up"
        }
    }

    @Test("G2: each event is decoded once, also one that cannot be read, and what follows it is read")
    func once() throws {
        let decoder = try EventDecoder(Picky.self)
        let cases: [([Int64], [String])] = [
            ([1, -1, -1, 2], ["1: 1", "gap 2...3 (2)", "4: 2", "caught up"]),
            ([-1, 1, 2], ["gap 1...1 (1)", "2: 1", "3: 2", "caught up"]),
            ([1, 2, -1], ["1: 1", "2: 2", "gap 3...3 (1)", "caught up"]),
            ([-1, -1], ["gap 1...2 (2)", "caught up"]),
            ([1, -1, 2, -1, 3], ["1: 1", "gap 2...2 (1)", "3: 2", "gap 4...4 (1)", "5: 3", "caught up"]),
        ]
        for (numbers, expected) in cases {  // Those that can be read differ.
            // One after the other, as a stream does; and in batches of two and of all, as handlers do.
            for most in [0, 2, 100] {
                let source = ReplaySource(ReplayBuffer(.standard), ReplayDecoding(decoder), nil)
                source.feed.append(try page(numbers))
                source.feed.appendCaughtUp()
                let before = Picky.decoded.load(ordering: .relaxed)
                var lines: [String] = []
                while true {
                    let count = source.deliver(most: most) { event in
                        lines.append("\((numbers.firstIndex(of: event.number) ?? -1) + 1): \(event.number)")
                    }
                    if count > 0 { continue }
                    guard let taken = source.next() else { break }
                    lines.append(line(taken))
                }
                #expect(lines == expected, "\(numbers), \(most)")
                #expect(Picky.decoded.load(ordering: .relaxed) - before == numbers.count)
                #expect(source.feed.missed == numbers.count { $0 < 0 })
            }
        }
    }
}
