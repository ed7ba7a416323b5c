import TestTraits
import Testing

@testable import RelayCore

@Suite("The runs that Attach reports", .computing, .tags(.g6)) struct StreamRunTests {
    /// A journal of runs with so many events each.
    private static func runs(_ counts: [UInt64]) -> [StreamRun] {
        var (first, runs): (UInt64, [StreamRun]) = (1, [])
        for (index, count) in counts.enumerated() {
            runs.append(StreamRun(epoch: UInt64(index) + 100, first: first))
            first += count
        }
        return runs
    }
    @Test("a few are all reported; of many, the newest and ever fewer of the older ones, down to the oldest")
    func sample() {
        #expect(StreamRun.sample(of: []) == [])
        let few = Self.runs([3, 1, 4, 1, 5])
        #expect(StreamRun.sample(of: few) == few)
        #expect(StreamRun.sample(of: Self.runs([3, 0, 0, 4, 0])).map(\.epoch) == [100, 103, 104])
        let many = Self.runs(Array(repeating: 1, count: 100_000))
        let sample = StreamRun.sample(of: many)
        #expect(sample.count == StreamRun.most && sample.last == many.last && sample.first == many.first)
        #expect(sample.suffix(16) == many.suffix(16))
        // Behind each older one stands where the next one began.
        for (run, next) in zip(sample, sample.dropFirst()) where run.epoch != 0 && next.epoch == 0 {
            #expect(next.first == run.first + 1)
        }
    }
    @Test("whatever runs two histories have in common: never more is found than they share, and something if they do")
    func parted() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<TestForm.rounds(2_000, soak: 50_000) {
            func random(_ count: Int, from epoch: UInt64, at first: UInt64) -> [StreamRun] {
                var first = first
                return (0..<count).map { index in
                    let run = StreamRun(epoch: epoch + UInt64(index), first: first)
                    first += UInt64.random(in: 0...3, using: &generator)
                    return run
                }
            }
            let shared = random(Int.random(in: 1...80, using: &generator), from: 1, at: 1)
            // The last common run goes on at both, as far as `fork` in common.
            let fork = (shared.last?.first ?? 1) - 1 + UInt64.random(in: 0...3, using: &generator)
            let mine = shared + random(Int.random(in: 1...80, using: &generator), from: 1_000, at: fork + 1)
            let theirs = shared + random(Int.random(in: 0...80, using: &generator), from: 2_000, at: fork + 3)
            let head = (theirs.last?.first ?? 1) + 3
            let present = mine.last ?? StreamRun(epoch: 1, first: 1)
            let after = present.first + UInt64.random(in: 0...3, using: &generator)
            let log = StreamHistory(
                LogSnapshot(head: head, last: [:], pruned: [:], runs: theirs, schemas: [:]), names: [])
            let from = log.from(
                epoch: present.epoch, after: after, ancestry: StreamRun.sample(of: mine), head: head)
            #expect(from <= fork, "\(mine) \(theirs)")
            // What one list leaves out costs at most as much again as lies between the fork and the end.
            let oldest = mine.first { $0.first > 1 }?.first ?? 1
            #expect(fork < oldest || from > 0, "\(mine) \(theirs)")
        }
    }
}
