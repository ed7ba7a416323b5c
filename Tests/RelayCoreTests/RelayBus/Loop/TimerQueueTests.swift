import TestTraits
import Testing

@testable import RelayBus

@Suite("Timers") struct TimerQueueTests {
    /// Slow and plain: what the queue has to equal.
    private struct Model {
        var entries: [(id: UInt64, deadline: UInt64, payload: Int)] = []
        var next: (id: UInt64, deadline: UInt64, payload: Int)? {
            entries.min { ($0.deadline, $0.id) < ($1.deadline, $1.id) }
        }
    }

    @Test("does what a sorted list does, over random additions, cancellations and times", arguments: 1...20)
    func equalsTheModel(seed: UInt64) {
        var random = SeededGenerator(seed: seed &* 0x9E37_79B9)
        var (queue, model) = (TimerQueue<Int>(), Model())
        for step in 0..<3_000 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4:
                let deadline = UInt64.random(in: 0..<200, using: &random)
                model.entries.append((queue.add(step, at: deadline), deadline, step))
            case 4..<8:
                // Sometimes one that is gone, or never was.
                let id = model.entries.randomElement(using: &random)?.id ?? UInt64.random(in: 0...9_999, using: &random)
                let index = model.entries.firstIndex { $0.id == id }
                #expect(queue.cancel(id) == index.map { model.entries[$0].payload }, "seed \(seed), step \(step)")
                #expect(queue.cancel(id) == nil)
                if let index { model.entries.remove(at: index) }
            default:
                let now = UInt64.random(in: 0..<200, using: &random)
                let due = model.next.flatMap { $0.deadline <= now ? $0 : nil }
                #expect(queue.popDue(now) == due?.payload, "seed \(seed), step \(step)")
                if let due { model.entries.removeAll { $0.id == due.id } }
            }
            #expect(queue.count == model.entries.count && queue.isEmpty == model.entries.isEmpty)
            #expect(queue.nextDeadline() == model.next?.deadline, "seed \(seed), step \(step)")
        }
    }
    @Test("one with leeway comes early if the queue is looked at, and at its deadline if not", arguments: 1...20)
    func leeway(seed: UInt64) {
        struct Entry {
            let id: UInt64, early: UInt64, deadline: UInt64
        }
        var random = SeededGenerator(seed: seed &* 0x9E37_79B9)
        var (queue, model, now) = (TimerQueue<Int>(), [Entry](), UInt64(0))
        for step in 0..<3_000 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4:
                let early = now + UInt64.random(in: 0..<100, using: &random)
                let deadline = early + UInt64.random(in: 0..<100, using: &random)
                let id = queue.add(step, at: deadline, early: early < deadline ? early : nil)
                model.append(Entry(id: id, early: early, deadline: deadline))
            case 4..<6:
                guard let entry = model.randomElement(using: &random) else { continue }
                #expect(queue.cancel(entry.id) != nil && queue.cancel(entry.id) == nil)
                model.removeAll { $0.id == entry.id }
            default:
                now += UInt64.random(in: 0..<20, using: &random)
                let has = model.filter { $0.deadline <= now }.min { ($0.deadline, $0.id) < ($1.deadline, $1.id) }
                let may = model.filter { $0.early <= now }.min { ($0.early, $0.id) < ($1.early, $1.id) }
                let isDue = queue.popDue(now) != nil
                #expect(isDue == ((has ?? may) != nil), "seed \(seed), step \(step)")
                if let due = has ?? may {
                    #expect(queue.cancel(due.id) == nil, "seed \(seed), step \(step)")
                    model.removeAll { $0.id == due.id }
                }
            }
            #expect(queue.count == model.count && queue.isEmpty == model.isEmpty)
            #expect(queue.nextDeadline() == model.map(\.deadline).min(), "seed \(seed), step \(step)")
        }
    }
    @Test("equal deadlines come in the order in which they were added") func equalDeadlines() {
        var queue = TimerQueue<Int>()
        for number in 0..<100 { _ = queue.add(number, at: 7) }
        #expect((0..<100).map { _ in queue.popDue(7) } == Array(0..<100).map { Optional($0) })
    }
    @Test("deadlines past the clock's end never come, and past ones are due at once") func extremes() {
        let now: UInt64 = 5_000_000_000
        #expect(MonotonicClock.deadline(after: .seconds(Int64.max), from: now) == .max)
        #expect(MonotonicClock.deadline(after: .seconds(-1), from: now) == now)
        #expect(MonotonicClock.deadline(after: .nanoseconds(-1), from: now) == now)
        #expect(MonotonicClock.deadline(after: .milliseconds(1_500), from: now) == now + 1_500_000_000)
        #expect(MonotonicClock.deadline(after: .nanoseconds(999), from: .max - 500) == .max)
    }
    @Test("sleeps are rounded up to milliseconds and bounded") func rounding() {
        #expect(MonotonicClock.milliseconds(until: 1_000_001, from: 1_000_000) == 1)
        #expect(MonotonicClock.milliseconds(until: 2_000_000, from: 1_000_000) == 1)
        #expect(MonotonicClock.milliseconds(until: 2_000_001, from: 1_000_000) == 2)
        #expect(MonotonicClock.milliseconds(until: 5, from: 5) == 0)
        #expect(MonotonicClock.milliseconds(until: 5, from: 6) == 0)
        #expect(MonotonicClock.milliseconds(until: .max, from: 0) == .max)
    }
}
