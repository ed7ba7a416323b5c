import TestTraits
import Testing

@testable import RelayBus

@Suite("Who has a loop", .tags(.g4)) struct LoopTenureTests {
    private static let patience: UInt64 = 10
    private enum Step: CaseIterable {
        case lend, goOn, takeAll, lookSoon, lookLate, lostReturns
    }
    /// A loop with its threads, as they would be.
    private struct World {
        var tenure = LoopTenure<Int>()
        var (now, lent): (UInt64, Int) = (0, 0)
        var (here, elsewhere): ([Int], [Int]) = ([], [])
        /// What the thread that has the loop runs; nil: it is in a turn.
        var running: Int?
        var holder: UInt64 = 0
        /// Threads that still run a job, and have lost the loop.
        var lost: [UInt64] = []
        var isSent = false

        mutating func take(_ step: Step) {
            switch step {
            case .lend:
                // In a turn only.
                if running != nil { return }
                lent += 1
                if tenure.lend(lent) {
                    #expect(!isSent, "sent for once")
                    isSent = true
                }
            case .goOn:
                switch tenure.next(holder, now: now) {
                case .run(let job):
                    here.append(job)
                    running = job
                case .none: running = nil
                case .lost: Issue.record("it has the loop")
                }
            case .takeAll: elsewhere += tenure.takeAll()
            case .lookSoon, .lookLate:
                if !isSent { return }
                now += step == .lookLate ? LoopTenureTests.patience : 1
                let since = tenure.since
                switch tenure.look(now: now, patience: LoopTenureTests.patience) {
                case .rest:
                    #expect(running == nil)
                    isSent = false
                case .again(let time): #expect(1...LoopTenureTests.patience ~= time)
                case .takeOver(let thread, let jobs):
                    #expect(running != nil && since.map { now - $0 >= LoopTenureTests.patience } == true)
                    lost.append(holder)
                    (holder, running, isSent) = (thread, nil, false)
                    elsewhere += jobs
                }
            case .lostReturns:
                guard let thread = lost.popLast() else { return }
                guard case .lost = tenure.next(thread, now: now) else {
                    Issue.record("\(thread) has lost the loop")
                    return
                }
            }
            check()
        }
        func check() {
            let ran = here + elsewhere
            #expect(Set(ran).count == ran.count, "once")
            #expect(here == here.sorted() && ran.allSatisfy { 1...max(lent, 1) ~= $0 }, "in their order")
            #expect(isSent == tenure.isWatched)
            // What runs is watched: or it holds the loop for ever.
            #expect(running == nil || isSent)
        }
        /// Nothing is left behind.
        mutating func end() {
            for _ in 0...lent { take(.goOn) }
            #expect(Set(here + elsewhere).count == lent && tenure.isEmpty)
        }
    }

    @Test("a lent job runs once, and a job that blocks loses the loop: every order of seven steps")
    func orders() {
        func walk(_ world: World, _ depth: Int) {
            var ended = world
            ended.end()
            if depth == 0 { return }
            for step in Step.allCases {
                var next = world
                next.take(step)
                walk(next, depth - 1)
            }
        }
        walk(World(), 7)
    }
}
