import FleetViews
import RelayCore
import Testing

@Suite("Each sample is counted once, or named as missing") struct SampleAccountTests {
    private func stamp(_ sequence: UInt64, epoch: UInt64 = 1) -> Stamp {
        Stamp(epoch: epoch, sequence: sequence, previous: 0, publishedAt: Timestamp(microseconds: sequence))
    }
    private func gap(_ range: ClosedRange<UInt64>, epoch: UInt64 = 1) -> Gap {
        Gap(range, epoch: epoch, count: nil, reason: .lost)
    }

    @Test("samples and gaps in any order add up, and nothing remains") func addsUp() {
        // 1…6, of which 3 and 4 are a gap: every order in which the five can come.
        let all: [(sequence: UInt64?, gap: ClosedRange<UInt64>?)] = [
            (1, nil), (2, nil), (nil, 3...4), (5, nil), (6, nil),
        ]
        for order in Self.permutations(Array(0..<5)) {
            var account = SampleAccount()
            for index in order {
                if let sequence = all[index].sequence { account.add(stamp(sequence), number: sequence) }
                if let range = all[index].gap { account.add(gap(range)) }
            }
            #expect(
                account.received == 4 && account.missing == 2 && account.ofRun == 6 && account.unexplained == 0
                    && account.twice == 0, "\(order): \(account)")
        }
    }
    private static func permutations(_ items: [Int]) -> [[Int]] {
        items.isEmpty
            ? [[]] : items.flatMap { first in permutations(items.filter { $0 != first }).map { [first] + $0 } }
    }
    @Test("what comes twice, and what neither comes nor is named, is found") func faults() {
        var account = SampleAccount()
        for sequence: UInt64 in [5, 6, 9] { account.add(stamp(sequence), number: sequence) }
        #expect(account.unexplained == 2 && account.twice == 0)
        account.add(gap(6...8))
        #expect(account.unexplained == 0 && account.twice == 1)
        account.add(stamp(5), number: 5)
        #expect(account.twice == 2)
        // Of the next run what was unexplained before stays so.
        account.add(stamp(20), number: 20)
        account.add(stamp(1, epoch: 2), number: 1)
        #expect(account.unexplained == 10 && account.ofRun == 1 && account.epoch == 2)
        #expect(account.misplaced == 0)
        account.add(stamp(2, epoch: 2), number: 3)
        #expect(account.misplaced == 1, "what came in another's place")
    }
    @Test("of a run that was killed nobody knows how many are missing") func openEnd() {
        var account = SampleAccount()
        account.add(stamp(1), number: 1)
        account.add(Gap(2...UInt64.max, epoch: 1, count: nil, reason: .epochChanged))
        account.add(stamp(1, epoch: 2), number: 1)
        #expect(account.openEnds == 1 && account.missing == 0 && account.received == 2 && account.unexplained == 0)
        #expect(account.twice == 0)
    }
}
