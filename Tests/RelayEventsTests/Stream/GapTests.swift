import Testing

@testable import RelayEvents

@Suite("Joining gaps") struct GapTests {
    @Test("neighbouring gaps of one run and reason are one, with the sum of their counts")
    func merges() {
        var run = CoalescedGaps(Gap(3...4, epoch: 1, count: 2, reason: .lost))
        run.append(Gap(7...9, epoch: 1, count: 1, reason: .lost))
        #expect(run.gaps == [Gap(3...9, epoch: 1, count: 3, reason: .lost)])
        run.append(Gap(10...10, epoch: 1, count: nil, reason: .lost))
        #expect(run.gaps == [Gap(3...10, epoch: 1, count: nil, reason: .lost)])
    }
    @Test("gaps of another run or reason stay apart")
    func keepsApart() {
        var run = CoalescedGaps(Gap(3...4, epoch: 1, count: 2, reason: .lost))
        run.append(Gap(1...1, epoch: 2, count: 1, reason: .lost))
        run.append(Gap(5...5, epoch: 1, count: 1, reason: .expired))
        #expect(run.gaps.count == 3)
    }
    @Test("a gap that lies before another is not merged with it: what lies between may have been delivered")
    func claimsNothingBetween() {
        var run = CoalescedGaps(Gap(10...12, epoch: 1, count: 3, reason: .lost))
        run.append(Gap(5...6, epoch: 1, count: 2, reason: .lost))
        #expect(run.gaps.map(\.sequences) == [10...12, 5...6])
    }
    @Test("past eight kinds the oldest are counted, not named")
    func folds() {
        var run = CoalescedGaps(Gap(1...1, epoch: 1, count: 1, reason: .lost))
        for epoch in 2...20 as ClosedRange<UInt64> { run.append(Gap(1...1, epoch: epoch, count: 1, reason: .lost)) }
        #expect(run.gaps.count == CoalescedGaps.limit)
        #expect(run.gaps.compactMap(\.count).reduce(0, +) == 20)
        #expect(run.gaps.last?.epoch == 20)
    }
    @Test("counts and ranges at the edge of their types don't trap")
    func edges() {
        var run = CoalescedGaps(Gap(0...0, epoch: 1, count: .max, reason: .lost))
        run.append(Gap(0...UInt64.max, epoch: 1, count: .max, reason: .lost))
        #expect(run.gaps == [Gap(0...UInt64.max, epoch: 1, count: .max, reason: .lost)])
    }
    @Test("a time minus any duration stays within the clock's range")
    func timestamps() {
        #expect(Timestamp(microseconds: 5_000_000) - .seconds(2) == Timestamp(microseconds: 3_000_000))
        #expect(Timestamp(microseconds: 5) - .seconds(Int64.max) == Timestamp(microseconds: 0))
        #expect(Timestamp(microseconds: .max) - .seconds(Int64.min) == Timestamp(microseconds: .max))
        #expect(Timestamp.now > Timestamp(microseconds: 1_000_000))
    }
}
