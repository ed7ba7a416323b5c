import Glibc
import RelayCore
import Testing

@testable import RelayJournal

/// Every interleaving of a few callers, the writer's thread and a stop.
@Suite("The writer's queue") struct WriterQueueTests {
    @Test("takes turns without loss, in order, and ends", arguments: [1, 2, 3], [false, true])
    func interleavings(callers: Int, canLead: Bool) {
        for isStopped in [false, true] {
            for hasKeeping in [false, true] {
                var model = Model(
                    callers: callers, canLead: canLead, isStopped: isStopped, hasKeeping: hasKeeping)
                model.explore()
                #expect(model.faults == [])
                // It has seen what it is about.
                #expect(model.ends > 1 && (model.led > 0) == canLead && (model.grouped > 0) == (callers > 1))
                #expect((model.refused > 0) == isStopped)
            }
        }
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
            #expect(copy.putBack("engine", due: due) == isDue)
            if case .lead = copy.accept(unit, by: 1, CommitPermit()) { #expect(!isDue) } else { #expect(isDue) }
        }
    }
    @Test("after a group of several nobody leads, until one comes alone") func groups() {
        var queue = WriterQueue("engine")
        var works: [JournalWork] = []
        func commit(_ count: Int) {
            for number in 0..<count { _ = queue.accept(.unit(Numbered(number)), by: 1, nil) }
            works = []
            #expect(queue.take(&works, by: 2) != nil && works.count == count)
            queue.putBack("engine", until: .max)
        }
        commit(0)
        commit(2)
        guard case .queued = queue.accept(.unit(Numbered(1)), by: 1, CommitPermit()) else {
            Issue.record("led after a group of two")
            return
        }
        works = []
        #expect(queue.take(&works, by: 2) != nil && works.count == 1)
        queue.putBack("engine", until: .max)
        if case .lead = queue.accept(.unit(Numbered(1)), by: 1, CommitPermit()) { return }
        Issue.record("not led after one alone")
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
            #expect(queue.takeMore(&works) == isAny && works.count == size)
        }
        #expect(queue.works.count == 8)
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
        case announcing
        case leading(number: Int)
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
        var callers: [Caller]
        var thread = Thread.taking(hasDeadline: true)
        var stopper: Caller
        /// In the order in which they were taken in, and done.
        var accepted: [Int] = []
        var done: [Int] = []
        var holders = 0
        var timeouts = 0
    }
    let canLead: Bool
    /// Whether a leader leaves something to keep, and the thread's time comes once.
    let hasKeeping: Bool
    private let start: State
    var (ends, led, grouped, refused) = (0, 0, 0, 0)
    var faults: Set<String> = []

    init(callers: Int, canLead: Bool, isStopped: Bool, hasKeeping: Bool) {
        (self.canLead, self.hasKeeping) = (canLead, hasKeeping)
        start = State(callers: Array(repeating: .outside, count: callers), stopper: isStopped ? .outside : .done)
    }
    mutating func explore() { explore(start) }

    private mutating func explore(_ state: State) {
        var isStuck = true
        func next(_ body: (inout State) -> Void) -> State {
            isStuck = false
            var state = state
            body(&state)
            return state
        }
        for index in state.callers.indices {
            switch state.callers[index] {
            case .outside: explore(next { accept(index, &$0) })
            case .announcing:
                explore(
                    next {
                        $0.callers[index] = .done
                        wake(&$0)
                    })
            case .leading(let number):
                explore(
                    next {
                        $0.done.append(number)
                        $0.holders -= 1
                        let mustWake = $0.queue.putBack("engine", due: hasKeeping ? 0 : .max)
                        $0.callers[index] = mustWake ? .announcing : .done
                    })
            case .done: break
            }
        }
        switch state.stopper {
        case .outside:
            explore(
                next {
                    $0.queue.end()
                    $0.stopper = .announcing
                })
        case .announcing:
            explore(
                next {
                    $0.stopper = .done
                    wake(&$0)
                })
        case .leading, .done: break
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
                explore(
                    next {
                        var works: [JournalWork] = []
                        if !$0.queue.takeMore(&works) { faults.insert("nothing more, though it is there") }
                        $0.thread = .working(numbers + Self.numbers(works))
                    })
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
    private mutating func accept(_ index: Int, _ state: inout State) {
        switch state.queue.accept(.unit(Numbered(index)), by: pthread_t(index), canLead ? CommitPermit() : nil) {
        case .refused:
            refused += 1
            state.callers[index] = .done
        case .queued(let mustWake):
            state.accepted.append(index)
            state.callers[index] = mustWake ? .announcing : .done
        case .lead:
            led += 1
            state.accepted.append(index)
            state.callers[index] = .leading(number: index)
            hold(&state)
        }
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
