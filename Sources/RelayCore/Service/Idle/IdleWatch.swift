import Synchronization
import RelayWire

/// The end of a service that nobody uses: when it is looked at, and what it finds.
final class IdleWatch: Sendable {
    private struct State {
        /// nil: the service does not end for being idle.
        var machine: IdleMachine?
        var onEnd: (@Sendable () -> Void)?
        /// There was a use that is no look.
        var isUsed = false
        /// Commits of the journal, when it was last looked.
        var commits: UInt64 = 0
        var timer: UInt64 = 0
        var isLookDue = false
        /// What has no end that is reported is looked at so often: less and less.
        var pace = Duration.zero
    }
    let activities = ActivityCount()
    /// The service ends because nobody used it.
    let hasIdled = Atomic<Bool>(false)
    private let state: LoopBound<State>
    private let streams: [PublishedStream]
    private let log: (any EventLogStorage)?
    private let queues: CommandQueues
    private let loop: BusLoop
    private let timing: ServiceTiming
    /// Calls that are not answered yet, besides those in the queues.
    private let openCalls: @Sendable () -> Int

    init(
        _ streams: [PublishedStream], _ log: (any EventLogStorage)?, _ queues: CommandQueues, _ loop: BusLoop,
        _ timing: ServiceTiming, openCalls: @escaping @Sendable () -> Int
    ) {
        (self.streams, self.log, self.queues) = (streams, log, queues)
        (self.loop, self.timing, self.openCalls) = (loop, timing, openCalls)
        state = LoopBound(State(), on: loop)
    }
    /// Calls back as soon as nobody has used the service for so long.
    func begin(limit: Duration, onEnd: @escaping @Sendable () -> Void) {
        loop.execute { [self] in
            state.onLoop.commits = log?.activity.commits ?? 0
            state.onLoop.onEnd = onEnd
            state.onLoop.machine = IdleMachine(
                limit: MonotonicClock.nanoseconds(limit), isUsed: state.onLoop.isUsed, now: loop.now,
                timing: timing.idle)
            activities.onNone { [weak self] in self?.lookSoon() }
            queues.onNone { [weak self] in self?.lookSoon() }
            look()
        }
    }
    /// A peer has called.
    func note(_ call: IncomingCall, isCommand: Bool) {
        let use: IdleMachine.Use =
            switch (call.interface, call.member) {
            case _ where isCommand: .work
            case (Stream1.name, "Schemas"), (Stream1.name, "Contract"), (Stream1.name, "Status"),
                (Stream1.name, "CloseRing"):
                .look
            case (StandardInterfaces.introspectable.name, _), (StandardInterfaces.properties.name, _),
                (StandardInterfaces.peer.name, _):
                .look
            default: .work
            }
        if use == .work { state.onLoop.isUsed = true }
        if state.onLoop.machine == nil { return }
        state.onLoop.machine?.used(use, now: loop.now)
        lookBehind()
    }
    /// From any thread.
    private func lookSoon() {
        loop.execute { [weak self] in self?.look() }
    }
    /// In a turn of the loop: once behind all that the bus has brought so far.
    func lookBehind() {
        if state.onLoop.machine == nil || state.onLoop.isLookDue { return }
        state.onLoop.isLookDue = true
        lookSoon()
    }
    private func look() {
        state.onLoop.isLookDue = false
        guard state.onLoop.machine != nil else { return }
        let activity = log?.activity ?? LogActivity()
        if activity.commits != state.onLoop.commits {
            state.onLoop.commits = activity.commits
            state.onLoop.machine?.used(.work, now: loop.now)
        }
        let holds = IdleMachine.Holds(
            subscribers: streams.reduce(0) { $0 + $1.users }, calls: queues.count + openCalls(),
            tokens: activities.value, units: activity.isBusy ? 1 : 0)
        loop.cancel(timer: state.onLoop.timer)
        let now = loop.now
        switch state.onLoop.machine?.look(holds, now: now) {
        case .end?:
            hasIdled.store(true, ordering: .releasing)
            state.onLoop.onEnd?()
        case .look(let deadline)?:
            state.onLoop.pace = .zero
            again(after: .nanoseconds(Int64(clamping: deadline - now)))
        case IdleMachine.Action.none?, nil:
            // Subscribers, commands and tokens report their end.
            guard holds.calls > queues.count || holds.units > 0 else {
                state.onLoop.pace = .zero
                return
            }
            state.onLoop.pace = min(
                max(state.onLoop.pace * 2, timing.idle.looks.lowerBound), timing.idle.looks.upperBound)
            again(after: state.onLoop.pace)
        }
    }
    private func again(after time: Duration) {
        state.onLoop.timer = loop.schedule(after: time) { [weak self] in self?.look() }
    }
    /// Waits until all calls that came are answered, and all activities have ended; or until the deadline.
    func settle(until deadline: UInt64) async {
        // Again and again, as this is for the end of a service's life only.
        while MonotonicClock.now < deadline {
            let isSettled = await withCheckedContinuation { continuation in
                loop.execute { [self] in continuation.resume(returning: queues.count + openCalls() == 0) }
            }
            if isSettled, !hasIdled.load(ordering: .acquiring) || activities.value == 0 { return }
            await OwnTimer.sleep(for: timing.bus.look)
        }
    }
}

extension PublishedStream {
    /// Peers that have events from it.
    var users: Int { state.withLock { $0.subscribers.count + $0.outlets.readers } }
}
