import TestTraits
import Testing

@testable import RelayEvents

@Suite("Slots of handlers' threads") struct HandlerSlotsTests {
    private enum Step: CaseIterable {
        case add, finishOldest, finishNewest, pass, leave, lose
    }
    /// A pool with its threads, as they would be: each runs a job, or waits.
    private struct World {
        var slots = HandlerSlots<Int>(width: 1, limit: 3, patience: 10)
        var (now, jobs): (UInt64, Int) = (0, 0)
        var begun: [Int] = []
        /// Threads by number: since when they run a job; nil: they wait.
        var threads: [Int: UInt64?] = [:]
        var (mostAtOnce, left) = (0, 0)

        mutating func begin(_ start: HandlerSlots<Int>.Start) {
            switch start {
            case .wake(let worker, let job):
                #expect(threads[worker] == .some(.none), "it waits")
                threads[worker] = now
                begun.append(job)
            case .begin(let worker, let job):
                #expect(threads[worker] == nil, "a number is used once")
                threads[worker] = now
                begun.append(job)
            }
        }
        mutating func look() { while let start = slots.look(now: now) { begin(start) } }
        mutating func take(_ step: Step) {
            let busy = threads.compactMap { worker, since in since.map { (worker, $0) } }.sorted { $0.1 < $1.1 }
            switch step {
            case .add:
                jobs += 1
                if let start = slots.add(jobs, now: now) { begin(start) }
            case .finishOldest, .finishNewest:
                guard let (worker, _) = step == .finishOldest ? busy.first : busy.last else { return }
                let next = slots.finish(worker, now: now)
                threads[worker] = .some(next == nil ? nil : now)
                if let next { begun.append(next) }
            case .lose:
                // The newest could not be started: its job ran elsewhere.
                guard let (worker, _) = busy.last else { return }
                slots.lose(worker)
                threads[worker] = nil
                look()
            case .pass:
                // No further than the watching thread sleeps.
                now = slots.deadline.map { max($0, now + 1) } ?? now + 11
                look()
            case .leave:
                let worker = threads.keys.sorted().last ?? 0
                if slots.leave(worker) {
                    #expect(threads[worker] == .some(.none))
                    threads[worker] = nil
                } else {
                    #expect(threads[worker] != .some(.none))
                }
            }
            check()
        }
        func check() {
            #expect(begun == Array(1...max(begun.count, 1)).prefix(begun.count).map(\.self), "in their order, once")
            #expect(slots.waiting == jobs - begun.count && slots.threads == threads.count)
            #expect(slots.taken == threads.values.count { $0 != nil } && threads.count <= 3)
            if slots.waiting > 0 {
                let fresh = threads.values.contains { since in since.map { $0 + 10 > now } == true }
                // It has a thread to wait for: one that has run only for a moment, or all of them.
                #expect(fresh || slots.taken == 3 || slots.deadline != nil)
                #expect(slots.deadline != nil || slots.taken == 3)
            }
        }
    }

    @Test("every sequence of six steps: jobs begin in order, once, and wait only where they have to")
    func everySequence() {
        var paths = 0
        func go(_ world: World, _ left: Int) {
            paths += 1
            if left == 0 { return }
            for step in Step.allCases {
                var next = world
                next.take(step)
                go(next, left - 1)
            }
        }
        go(World(), 6)
        #expect(paths == 55_987)
    }
    @Test("short jobs share the processors; one that blocks is left out of the count")
    func width() {
        var slots = HandlerSlots<Int>(width: 2, limit: 8, patience: 100)
        func begins(_ start: HandlerSlots<Int>.Start?) -> Int? {
            switch start {
            case .begin(let worker, _), .wake(let worker, _): worker
            case nil: nil
            }
        }
        #expect(begins(slots.add(1, now: 0)) == 1 && begins(slots.add(2, now: 50)) == 2)
        #expect(slots.add(3, now: 60) == nil && slots.deadline == 100 && slots.waiting == 1)
        // The first one ends: its thread goes on with the third.
        #expect(slots.finish(1, now: 70) == 3 && slots.deadline == nil)
        // Both block, which the next job finds out.
        #expect(begins(slots.add(4, now: 170)) == 3 && begins(slots.add(5, now: 171)) == 4)
        #expect(slots.add(6, now: 172) == nil && slots.deadline == 270)
        #expect(begins(slots.look(now: 269)) == nil && begins(slots.look(now: 270)) == 5 && slots.taken == 5)
    }
    @Test("where a thread cannot be had, those that are there go on with what waits") func lost() {
        var slots = HandlerSlots<Int>(width: 1, limit: 2, patience: 5)
        guard case .begin(let first, 1)? = slots.add(1, now: 0), case .begin(let second, 2)? = slots.add(2, now: 5)
        else {
            Issue.record("the first one blocks")
            return
        }
        #expect(slots.add(3, now: 6) == nil && slots.finish(first, now: 7) == nil && slots.waiting == 1)
        slots.lose(second)
        guard case .wake(first, 3)? = slots.look(now: 7) else {
            Issue.record("it waits for a job")
            return
        }
        #expect(slots.finish(first, now: 8) == nil && slots.threads == 1)
    }
}
