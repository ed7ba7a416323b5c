import TestTraits
import Testing

@testable import RelayCore

private let millisecond: UInt64 = 1_000_000

@Suite("The signal budget, as a value", .computing, .tags(.g3)) struct SignalRateLimiterTests {
    /// A gate, and all that happened to it: what is checked is said of the history, not of the gate's own figures.
    private struct World: Explorable {
        enum Step: CaseIterable { case event, tick, lateTick, press }
        static let budget = (rate: 2, burst: 2)

        var gate = SignalRateLimiter(.perSecond(budget.rate, burst: budget.burst))
        var now: UInt64 = 5_000
        var sequence: UInt64 = 0
        var isPressed = false
        /// When each event came, and each signal went.
        var events: [UInt64] = []
        var signals: [UInt64] = []
        var pauseBegan: UInt64?
        var ticks: [(at: UInt64, isPressed: Bool)] = []

        mutating func take(_ step: Step) {
            switch step {
            case .event:
                now += millisecond
                publish()
            case .tick: tick(after: 100)
            case .lateTick: tick(after: 600)
            case .press: isPressed.toggle()
            }
        }
        private mutating func publish() {
            sequence += 1
            let hasToken = hasToken
            events.append(now)
            // As the stream: the bus is asked when the budget has let it through.
            var isSent = gate.admits(sequence, now: now)
            if isSent && isPressed {
                gate.pause(before: sequence, now: now)
                isSent = false
            }
            #expect(isSent == (pauseBegan == nil && hasToken && !isPressed))
            #expect(gate.isPaused == !isSent)
            if isSent { signals.append(now) } else if pauseBegan == nil { (pauseBegan, ticks) = (now, []) }
            // A token that the bus's state made useless is gone.
            if !isSent && isPressed && hasToken && ticks.isEmpty && pauseBegan == now { signals.append(now) }
        }
        /// What a bucket is, said without one: in no stretch that ends now are there more signals than the burst and what the
        /// rate gives for it.
        private var hasToken: Bool {
            let milliseconds = signals.map { Int((now - $0) / millisecond) }
            return milliseconds.indices.allSatisfy { index in
                (milliseconds.count - index + 1) * 1_000 <= Self.budget.burst * 1_000 + Self.budget.rate
                    * milliseconds[index]
            }
        }
        private mutating func tick(after milliseconds: UInt64) {
            now += milliseconds * millisecond
            guard let began = pauseBegan else {
                if gate.tick(sequence, isPressed: isPressed, now: now) { Issue.record("ended what was not paused") }
                return
            }
            ticks.append((now, isPressed))
            let isOver = gate.tick(sequence, isPressed: isPressed, now: now)
            #expect(gate.isPaused == !isOver)
            guard isOver else { return }
            // There was a second, or more, of which every look found the bus at ease and the rate kept.
            let starts = [began] + ticks.map(\.at)
            let isCalm = starts.contains { start in
                let count = events.count { $0 > start || start == began && $0 == began }
                return now - start >= 1_000 * millisecond
                    && ticks.allSatisfy { $0.at <= start || !$0.isPressed }
                    && UInt64(count) * 1_000 * millisecond <= UInt64(Self.budget.rate) * (now - start)
            }
            #expect(isCalm, "went on at \(now) after \(ticks), events \(events)")
            pauseBegan = nil
        }
        /// From anywhere: when nothing comes and the bus is at ease, signals go on, and the next event is one.
        func checkEnd() {
            var world = self
            world.isPressed = false
            for _ in 0..<11 where world.gate.isPaused { world.take(.tick) }
            #expect(!world.gate.isPaused, "a second of quiet ends every pause")
            world.now += 500 * millisecond
            let isSent = world.gate.admits(world.sequence + 1, now: world.now)
            #expect(isSent)
        }
    }

    @Test("every order of events, looks, late looks and pressure keeps the budget, the pause and its end") func all() {
        #expect(World().explore(depth: 8) == 87_381)
    }
    @Test("a rate just within the budget goes on and stays; one just above it never does") func edge() {
        for (perTick, ends) in [(200, [10]), (201, [])] as [(UInt64, [Int])] {
            var gate = SignalRateLimiter(.standard)
            gate.pause(before: 1, now: 0)
            var sequence: UInt64 = 0
            let ticks = (1...300).filter { tick in
                sequence += perTick
                return gate.tick(sequence, isPressed: false, now: UInt64(tick) * 100 * millisecond)
            }
            #expect(ticks == ends)
        }
        var gate = SignalRateLimiter(.standard)
        let sent = admitted(&gate, 1...1_000_000) { $0 * millisecond / 2 }
        #expect(sent == 1_000_000, "2,000 a second, for ever")
    }
    @Test("the burst comes at once; what follows is left out until a look ends the pause") func burst() {
        var gate = SignalRateLimiter(.standard)
        let sent = admitted(&gate, 1...5_000) { _ in 77 }
        let later = admitted(&gate, 5_001...5_002) { _ in .max }
        #expect(sent == 4_000 && later == 0 && gate.isPaused)
    }
    @Test("without an end only the bus's state pauses, and a second from its last sign signals go on") func unlimited()
    {
        var gate = SignalRateLimiter(.unlimited)
        let sent = admitted(&gate, 1...100_000) { _ in 0 }
        #expect(sent == 100_000)
        gate.pause(before: 100_001, now: 0)
        let ends = [(100, true), (1_099, false), (1_100, false)].map { (at: UInt64, isPressed: Bool) in
            gate.tick(1 << 60 + at, isPressed: isPressed, now: at * millisecond)
        }
        #expect(ends == [false, false, true])
    }
    @Test("an event for several peers costs as many signals, but never more than a full bucket has") func fanOut() {
        for (counts, sent) in [([6, 4, 1], 2), ([5_000, 1], 1), ([0, 0], 2)] {
            var gate = SignalRateLimiter(.perSecond(1, burst: 10))
            #expect(counts.prefix { gate.admits(1, signals: $0, now: 0) }.count == sent)
        }
    }
    private func admitted(
        _ gate: inout SignalRateLimiter, _ sequences: ClosedRange<UInt64>, at now: (UInt64) -> UInt64
    ) -> Int {
        var count = 0
        for sequence in sequences where gate.admits(sequence, now: now(sequence)) { count += 1 }
        return count
    }
    @Test("figures at the ends of their types, and a clock that stands or goes back, trap nowhere") func extremes() {
        for budget in [.perSecond(.max, burst: .max), .perSecond(.min, burst: .min), .unlimited] as [SignalBudget] {
            var gate = SignalRateLimiter(budget)
            for (sequence, now) in [(1, 0), (2, .max), (3, 0), (.max, .max), (0, 5)] as [(UInt64, UInt64)] {
                _ = gate.admits(sequence, signals: .max, now: now)
                gate.pause(before: sequence, now: now)
                #expect(gate.isPaused)
                _ = gate.tick(sequence, isPressed: false, now: now)
                _ = gate.tick(.max, isPressed: false, now: 0)
                _ = gate.tick(.max, isPressed: false, now: .max)
            }
        }
    }
}
