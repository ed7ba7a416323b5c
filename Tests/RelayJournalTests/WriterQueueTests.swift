import Glibc
import RelayCore
import TestTraits
import Testing

@testable import RelayJournal

/// Every interleaving of a few callers, the writer's thread and a stop.
@Suite("The writer's queue", .heavy, .tags(.g5)) struct WriterQueueTests {
    @Test("takes turns without loss, in order, and ends", arguments: [1, 2, 3], [false, true])
    func interleavings(callers: Int, canLead: Bool) {
        var seen = (led: 0, grouped: 0, refused: 0, scheduled: 0, vain: 0)
        for isStopped in [false, true] {
            // Not all at once: that takes long, and shows nothing more.
            for hasKeeping in callers > 2 && (isStopped || !TestForm.isSoak) ? [false] : [false, true] {
                var model = Model(
                    callers: callers, canLead: canLead, isStopped: isStopped, hasKeeping: hasKeeping)
                model.explore()
                #expect(model.faults == [] && model.ends > 0)
                seen.led += model.led
                seen.grouped += model.grouped
                seen.refused += model.refused
                seen.scheduled += model.scheduled
                seen.vain += model.vain
            }
        }
        // It has seen what it is about.
        #expect((seen.led > 0) == canLead && (seen.grouped > 0) == (callers > 1) && seen.refused > 0)
        #expect((seen.scheduled > 0) == (canLead && callers > 1) && (seen.vain > 0) == (seen.scheduled > 0))
    }
    @Test("what is large, what is a call, and what comes when there is something to keep, is not led") func notLed() {
        var queue = WriterQueue("engine")
        var works: [JournalWork] = []
        func isLed(_ work: JournalWork, _ permit: CommitPermit? = CommitPermit()) -> Bool {
            var copy = queue
            if case .lead = copy.accept(work, by: 1, permit) { return true }
            return false
        }
        let unit = JournalWork.unit(Numbered(1))
        // The thread looks first.
        #expect(!isLed(unit))
        #expect(queue.take(&works, by: 2)?.isOver == false && works.isEmpty && queue.isTaken(by: 2))
        #expect(!isLed(unit))
        queue.putBack("engine", until: 0)
        #expect(!isLed(unit))
        _ = queue.take(&works, by: 2)
        queue.putBack("engine", until: 5_000_000)
        #expect(queue.take(&works, by: 2) == nil)
        #expect(isLed(unit) && !isLed(unit, nil) && !isLed(.call { _ in }))
        let taken = CommitPermit()
        #expect(taken.take() && !isLed(unit, taken))
        // After a leader that left something to keep before the thread comes by itself, and not after another.
        for (due, isDue) in [(0, true), (3_999_999, true), (4_000_000, false), (.max, false)] as [(UInt64, Bool)] {
            var copy = queue
            _ = copy.accept(unit, by: 1, CommitPermit())
            #expect(copy.putBack("engine", due: due, CommitPermit()) == (isDue ? .wake : .nothing))
            if case .lead = copy.accept(unit, by: 1, CommitPermit()) { #expect(!isDue) } else { #expect(isDue) }
        }
    }
    @Test("after a group of several, a leader comes for those who come by then, until one comes alone") func groups() {
        var queue = WriterQueue("engine")
        var works: [JournalWork] = []
        let permit = CommitPermit()
        func add(_ number: Int) -> WriterQueue<String>.Next? {
            if case .queued(let next) = queue.accept(.unit(Numbered(number)), by: 1, permit) { next } else { nil }
        }
        /// By the thread, which sleeps then.
        func commit(_ count: Int) {
            for number in 0..<count { _ = queue.accept(.unit(Numbered(number)), by: 1, nil) }
            works = []
            #expect(queue.take(&works, by: 2) != nil && works.count == count)
            queue.putBack("engine", until: .max)
            #expect(queue.take(&works, by: 2) == nil)
            works = []
        }
        commit(0)
        commit(2)
        #expect(add(1) == .schedule && !permit.take() && add(2) == .nothing)
        #expect(queue.takeLead(&works, by: 1) != nil && works.count == 2)
        #expect(add(3) == .nothing && queue.takeMore(&works, asLeader: true) && works.count == 3)
        // What came meanwhile is the next leader's, after its callers had the time to come again.
        #expect(add(4) == .nothing)
        permit.giveBack()
        #expect(queue.putBack("engine", due: .max, permit) == .schedule)
        works = []
        #expect(queue.takeLead(&works, by: 1) != nil && works.count == 1)
        permit.giveBack()
        #expect(queue.putBack("engine", due: .max, permit) == .nothing)
        if case .lead = queue.accept(.unit(Numbered(5)), by: 1, permit) { return }
        Issue.record("not led after one alone")
    }
    @Test("what nobody leads is the thread's, with all that waits, and a leader who comes then goes away")
    func threads() {
        for other in [JournalWork.call { _ in }, .events(Array(repeating: .volatile {}, count: 65), Self.nobody)] {
            var queue = WriterQueue("engine")
            var works: [JournalWork] = []
            for number in 0..<2 { _ = queue.accept(.unit(Numbered(number)), by: 1, nil) }
            _ = queue.take(&works, by: 2)
            queue.putBack("engine", until: .max)
            works = []
            #expect(queue.take(&works, by: 2) == nil)
            func next(_ answer: WriterQueue<String>.Answer) -> WriterQueue<String>.Next? {
                if case .queued(let next) = answer { next } else { nil }
            }
            let permit = CommitPermit()
            #expect(next(queue.accept(.unit(Numbered(1)), by: 1, permit)) == .schedule)
            #expect(next(queue.accept(other, by: 1, permit)) == .wake)
            #expect(queue.takeLead(&works, by: 1) == nil && !queue.takeMore(&works, asLeader: true) && works.isEmpty)
            #expect(next(queue.accept(.unit(Numbered(2)), by: 1, permit)) == .nothing)
            #expect(queue.take(&works, by: 2)?.isOver == false && works.count == 3)
            queue.putBack("engine", until: .max)
            works = []
            #expect(queue.take(&works, by: 2) == nil)
            // As before.
            permit.giveBack()
            #expect(next(queue.accept(.unit(Numbered(3)), by: 1, permit)) == .schedule)
        }
    }
    /// Never resumed: nothing is done with these works.
    private static var nobody: UnsafeContinuation<Void, any Error> {
        unsafeBitCast(UInt(0), to: UnsafeContinuation<Void, any Error>.self)
    }
    @Test("a group has its limit") func limit() {
        var queue = WriterQueue("engine")
        for number in 0..<1_000 { _ = queue.accept(.unit(Numbered(number)), by: 1, nil) }
        var sizes: [Int] = []
        for _ in 0..<2 {
            var works: [JournalWork] = []
            _ = queue.take(&works, by: 2)
            queue.putBack("engine", until: .max)
            sizes.append(works.count)
        }
        #expect(sizes == [512, 488] && queue.works.isEmpty)
        // Also what comes while it is being done.
        var works: [JournalWork] = []
        for (coming, isAny, size) in [(500, true, 500), (20, true, 512), (0, false, 512)] {
            for number in 0..<coming { _ = queue.accept(.unit(Numbered(number)), by: 1, nil) }
            #expect(queue.takeMore(&works, asLeader: true) == isAny && works.count == size)
        }
        #expect(queue.works.count == 8)
    }
}

extension WriterQueue {
    /// Equal for equal states, but for who has the engine and what waits.
    fileprivate var key: [Int] {
        let flags = [isEnding, isClosed, isDue, mustKeep, isAsleep, isThreads, isScheduled]
        return flags.map { $0 ? 1 : 0 } + [works.count, lastGroup, Int(truncatingIfNeeded: deadline)]
    }
}

private final class Numbered: UnitBody {
    let number: Int
    init(_ number: Int) { self.number = number }
    func run(in unit: inout UnitOfWork) throws {}
    func finish(_ failure: (any Error)?) {}
}

/// The threads as they use the queue, one step at a time.
private struct Model {
    enum Caller {
        case outside
        case announcing(WriterQueue<String>.Next)
        case leading([Int])
        /// A leader who was asked to come.
        case coming
        case done
    }
    enum Thread {
        case taking(hasDeadline: Bool)
        case sleeping(hasDeadline: Bool)
        case working([Int])
        case closed
    }
    struct State {
        var queue = WriterQueue("engine")
        /// Those who bring work, and the leaders who were asked to come for it.
        var callers: [Caller]
        var thread = Thread.taking(hasDeadline: true)
        var stopper: Caller
        /// In the order in which they were taken in, and done.
        var accepted: [Int] = []
        var done: [Int] = []
        var holders = 0
        var timeouts = 0

        /// Equal for equal states. What waits in the queue follows from who was taken in, and how far everybody is; who has the
        /// engine, too.
        var key: [Int] {
            func add(_ caller: Caller) {
                switch caller {
                case .outside: key.append(0)
                case .announcing(.nothing): key.append(1)
                case .announcing(.wake): key.append(2)
                case .announcing(.schedule): key.append(3)
                case .coming: key.append(4)
                case .done: key.append(5)
                case .leading(let numbers): add(6, numbers)
                }
            }
            func add(_ kind: Int, _ numbers: [Int]) {
                key.append(kind)
                key.append(numbers.count)
                key += numbers
            }
            var key = queue.key
            key += [holders, timeouts, callers.count]
            for caller in callers { add(caller) }
            add(stopper)
            switch thread {
            case .taking(let hasDeadline): key.append(hasDeadline ? 10 : 11)
            case .sleeping(let hasDeadline): key.append(hasDeadline ? 12 : 13)
            case .working(let numbers): add(14, numbers)
            case .closed: key.append(15)
            }
            add(0, accepted)
            add(0, done)
            return key
        }
    }
    let canLead: Bool
    /// Whether a leader leaves something to keep, and the thread's time comes once.
    let hasKeeping: Bool
    private let start: State
    var (ends, led, grouped, refused, scheduled, vain) = (0, 0, 0, 0, 0, 0)
    var faults: Set<String> = []
    private var seen: Set<[Int]> = []

    init(callers: Int, canLead: Bool, isStopped: Bool, hasKeeping: Bool) {
        (self.canLead, self.hasKeeping) = (canLead, hasKeeping)
        start = State(callers: Array(repeating: .outside, count: callers), stopper: isStopped ? .outside : .done)
    }
    mutating func explore() { explore(start) }

    private mutating func explore(_ state: State) {
        if !seen.insert(state.key).inserted { return }
        var isStuck = true
        func next(_ body: (inout State) -> Void) -> State {
            isStuck = false
            var state = state
            body(&state)
            return state
        }
        for index in state.callers.indices {
            switch state.callers[index] {
            case .outside:
                for permit in permits { explore(next { accept(index, permit, &$0) }) }
            case .announcing(let what):
                explore(
                    next {
                        $0.callers[index] = .done
                        switch what {
                        case .nothing: break
                        case .wake: wake(&$0)
                        case .schedule: $0.callers.append(.coming)
                        }
                    })
            case .coming: explore(next { takeLead(index, &$0) })
            case .leading(let numbers):
                if numbers.count > 1 && !state.queue.works.isEmpty {
                    explore(next { $0.callers[index] = .leading(numbers + takeMore(&$0)) })
                }
                for permit in permits {
                    explore(
                        next {
                            $0.done += numbers
                            $0.holders -= 1
                            let what = $0.queue.putBack("engine", due: hasKeeping ? 0 : .max, permit)
                            $0.callers[index] = .announcing(what)
                        })
                }
            case .done: break
            }
        }
        switch state.stopper {
        case .outside:
            explore(
                next {
                    $0.queue.end()
                    $0.stopper = .announcing(.wake)
                })
        case .announcing:
            explore(
                next {
                    $0.stopper = .done
                    wake(&$0)
                })
        case .leading, .coming, .done: break
        }
        switch state.thread {
        case .taking(let hasDeadline): explore(next { take(hasDeadline, &$0) })
        case .sleeping(hasDeadline: true) where state.timeouts < 1 && hasKeeping:
            explore(
                next {
                    $0.timeouts += 1
                    $0.queue.wasDue()
                    $0.thread = .taking(hasDeadline: false)
                })
        case .working(let numbers):
            if !numbers.isEmpty && !state.queue.works.isEmpty {
                explore(next { $0.thread = .working(numbers + takeMore(&$0)) })
            }
            explore(
                next {
                    $0.done += numbers
                    $0.holders -= 1
                    $0.queue.putBack("engine", until: .max)
                    $0.thread = .taking(hasDeadline: true)
                })
        case .sleeping, .closed: break
        }
        if isStuck { end(state) }
    }
    /// One that can be had, and none.
    private var permits: [CommitPermit?] { canLead ? [CommitPermit(), nil] : [nil] }

    private mutating func accept(_ index: Int, _ permit: CommitPermit?, _ state: inout State) {
        switch state.queue.accept(.unit(Numbered(index)), by: pthread_t(index), permit) {
        case .refused:
            refused += 1
            state.callers[index] = .done
        case .queued(let what):
            state.accepted.append(index)
            state.callers[index] = .announcing(what)
        case .lead:
            led += 1
            state.accepted.append(index)
            state.callers[index] = .leading([index])
            hold(&state)
        }
    }
    private mutating func takeLead(_ index: Int, _ state: inout State) {
        scheduled += 1
        var works: [JournalWork] = []
        if state.queue.takeLead(&works, by: pthread_t(index)) == nil {
            vain += 1
            state.callers[index] = .done
            return
        }
        if works.isEmpty { faults.insert("a leader of nothing") }
        state.callers[index] = .leading(Self.numbers(works))
        hold(&state)
    }
    private mutating func takeMore(_ state: inout State) -> [Int] {
        var works: [JournalWork] = []
        if !state.queue.takeMore(&works, asLeader: true) { faults.insert("nothing more, though it is there") }
        return Self.numbers(works)
    }
    private mutating func take(_ hasDeadline: Bool, _ state: inout State) {
        var works: [JournalWork] = []
        guard let (_, isOver) = state.queue.take(&works, by: 99) else {
            state.thread = .sleeping(hasDeadline: hasDeadline)
            return
        }
        if works.count > 1 { grouped += 1 }
        hold(&state)
        if isOver {
            state.queue.close()
            state.thread = .closed
        } else {
            state.thread = .working(Self.numbers(works))
        }
    }
    private static func numbers(_ works: [JournalWork]) -> [Int] {
        works.compactMap { if case .unit(let body) = $0 { (body as? Numbered)?.number } else { nil } }
    }
    private mutating func hold(_ state: inout State) {
        state.holders += 1
        if state.holders > 1 { faults.insert("two have the engine") }
    }
    private func wake(_ state: inout State) {
        if case .sleeping(let hasDeadline) = state.thread { state.thread = .taking(hasDeadline: hasDeadline) }
    }
    private mutating func end(_ state: State) {
        ends += 1
        if state.done != state.accepted { faults.insert("taken in \(state.accepted), done \(state.done)") }
        if !state.queue.works.isEmpty { faults.insert("\(state.queue.works.count) left") }
        if state.queue.isEnding != state.queue.isClosed { faults.insert("not ended") }
    }
}
