import TestTraits
import Testing

@testable import RelayCore

@Suite("When an idle service ends", .computing, .tags(.g6)) struct IdleMachineTests {
    /// A service, seen from outside: what holds it, and when it was last used.
    private struct World: Hashable {
        enum Step: CaseIterable {
            case attach, leave, beginCall, endCall, beginToken, endToken, beginUnit, endUnit, look, wait
        }
        static let (firstUse, afterLook) = (4 as UInt64, 2 as UInt64)
        let limit: UInt64
        var machine: IdleMachine
        var holds = IdleMachine.Holds()
        var now: UInt64 = 0
        /// The truth that the machine is to find.
        var (lastBusy, lastLook, isUsed) = (0 as UInt64, nil as UInt64?, false)
        var timer: UInt64?
        var hasEnded = false

        init(limit: UInt64) {
            self.limit = limit
            machine = IdleMachine(
                limit: limit, isUsed: false, now: 0,
                timing: ServiceTiming.Idle(
                    firstUse: .nanoseconds(Self.firstUse), afterLook: .nanoseconds(Self.afterLook)))
            look()
        }
        var due: UInt64 {
            max(lastBusy + limit, lastLook.map { $0 + Self.afterLook } ?? 0, isUsed ? 0 : Self.firstUse)
        }
        /// Returns nil for a step that is not possible.
        func after(_ step: Step) -> World? {
            var next = self
            if !holds.isNone { next.lastBusy = now }
            switch step {
            case .attach where holds.subscribers == 0: next.use { $0.subscribers = 1 }
            case .leave where holds.subscribers == 1: next.holds.subscribers = 0
            case .beginCall where holds.calls < 2: next.use { $0.calls += 1 }
            case .endCall where holds.calls > 0: next.holds.calls -= 1
            case .beginToken where holds.tokens == 0: next.holds.tokens = 1
            case .endToken where holds.tokens == 1: next.holds.tokens = 0
            case .beginUnit where holds.units == 0: next.holds.units = 1
            case .endUnit where holds.units == 1: next.holds.units = 0
            case .look:
                next.machine.used(.look, now: now)
                (next.lastBusy, next.lastLook) = (now, now)
            case .wait:
                next.now += 1
                // Nothing happens: only the timer looks.
                if let timer, next.now >= timer { next.look() }
                return next
            default: return nil
            }
            next.look()
            return next
        }
        private mutating func use(_ change: (inout IdleMachine.Holds) -> Void) {
            machine.used(.work, now: now)
            (lastBusy, isUsed) = (now, true)
            change(&holds)
        }
        private mutating func look() {
            timer = nil
            switch machine.look(holds, now: now) {
            case .none: break
            case .look(let time): timer = time
            case .end: hasEnded = true
            }
        }
    }

    @Test("every order of a few uses, holds and waits: it ends only unused, for the whole limit, and always then")
    func exploration() {
        for limit in [0, 1, 3] as [UInt64] {
            var (seen, frontier) = (Set<World>(), [World(limit: limit)])
            var ends = 0
            for _ in 0..<TestForm.rounds(9, soak: 12) {
                var next: [World] = []
                for world in frontier {
                    for step in World.Step.allCases {
                        guard let after = world.after(step), seen.insert(after).inserted else { continue }
                        if after.hasEnded {
                            ends += 1
                            #expect(after.holds.isNone && after.now >= after.due, "\(after)")
                            continue
                        }
                        // It will be looked at when it is due, and not later.
                        #expect(after.holds.isNone ? after.timer == after.due : after.timer == nil, "\(after)")
                        next.append(after)
                    }
                }
                frontier = next
            }
            #expect(ends > 0 && seen.count > 1_000)
        }
    }
    @Test("a decision to end stands") func final() {
        var machine = IdleMachine(limit: 0, isUsed: true, now: 5, timing: ServiceTiming.Idle())
        #expect(machine.look(IdleMachine.Holds(), now: 5) == .end)
        machine.used(.work, now: 6)
        #expect(machine.isOver && machine.look(IdleMachine.Holds(calls: 1), now: 6) == .none)
        #expect(machine.look(IdleMachine.Holds(), now: 7) == .none)
    }
    @Test("a limit beyond the clock's end never comes") func never() {
        var machine = IdleMachine(limit: .max, isUsed: true, now: 5, timing: ServiceTiming.Idle())
        #expect(machine.look(IdleMachine.Holds(), now: .max - 1) == .look(at: .max))
    }
    @Test("a commit that takes long is reported once, and once when it is over") func commitWatch() {
        let (busy, limit) = (LogActivity(isBusy: true, commits: 1, turns: 4), 5_000_000_000 as UInt64)
        var watch = CommitWatch(limit: limit)
        #expect(watch.look(busy, now: 10) == nil && watch.look(busy, now: 9 + limit) == nil && watch.report == nil)
        #expect(watch.look(busy, now: 10 + limit) == .seconds(5) && watch.report == .late)
        #expect(watch.look(busy, now: 10 + 2 * limit) == .seconds(10) && watch.report == nil)
        // Busy again, with something else.
        #expect(watch.look(LogActivity(isBusy: true, commits: 1, turns: 5), now: 20 + 2 * limit) == nil)
        #expect(watch.report == .over)
        #expect(watch.look(LogActivity(isBusy: true, commits: 1, turns: 5), now: 21 + 2 * limit) == nil)
        #expect(watch.report == nil)
    }
}
