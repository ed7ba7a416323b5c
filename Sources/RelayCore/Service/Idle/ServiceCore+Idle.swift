import Synchronization

/// The end of a service that nobody uses: when it is looked at, and what it finds.
extension ServiceCore {
    /// What the loop keeps of it.
    struct Idleness {
        /// nil: the service does not end for being idle.
        var machine: IdleMachine?
        /// There was a use that is no look.
        var isUsed = false
        /// Commits of the journal, when it was last looked.
        var commits: UInt64 = 0
        var timer: UInt64 = 0
        var isLookDue = false
        /// What has no end that is reported is looked at so often: less and less.
        var pace = Duration.zero
    }

    /// Ends the service, as soon as nobody has used it for so long.
    func endWhenIdle(for limit: Duration) {
        loop.execute { [self] in
            let nanoseconds = MonotonicClock.nanoseconds(limit)
            let isUsed = state.onLoop.idleness.isUsed
            state.onLoop.idleness.commits = log?.activity.commits ?? 0
            state.onLoop.idleness.machine = IdleMachine(
                limit: nanoseconds, isUsed: isUsed, now: loop.now, timing: timing.idle)
            activities.onNone { [weak self] in self?.lookSoon() }
            queues.onNone { [weak self] in self?.lookSoon() }
            look()
        }
    }
    /// A peer has called.
    func noteUse(_ call: IncomingCall) {
        let use: IdleMachine.Use =
            switch (call.interface, call.member) {
            case (Stream1.name, "Schemas"), (Stream1.name, "Status"), (Stream1.name, "CloseRing"): .look
            case (StandardInterfaces.introspectable.name, _), (StandardInterfaces.properties.name, _),
                (StandardInterfaces.peer.name, _):
                .look
            default: .work
            }
        if use == .work { state.onLoop.idleness.isUsed = true }
        if state.onLoop.idleness.machine == nil { return }
        state.onLoop.idleness.machine?.used(use, now: loop.now)
        lookBehind()
    }
    /// From any thread.
    private func lookSoon() {
        loop.execute { [weak self] in self?.look() }
    }
    /// In a turn of the loop: once behind all that the bus has brought so far.
    func lookBehind() {
        if state.onLoop.idleness.machine == nil || state.onLoop.idleness.isLookDue { return }
        state.onLoop.idleness.isLookDue = true
        lookSoon()
    }
    private func look() {
        state.onLoop.idleness.isLookDue = false
        guard state.onLoop.idleness.machine != nil else { return }
        let activity = log?.activity ?? LogActivity()
        if activity.commits != state.onLoop.idleness.commits {
            state.onLoop.idleness.commits = activity.commits
            state.onLoop.idleness.machine?.used(.work, now: loop.now)
        }
        let holds = holds(activity)
        loop.cancel(timer: state.onLoop.idleness.timer)
        let now = loop.now
        switch state.onLoop.idleness.machine?.look(holds, now: now) {
        case .end?:
            hasIdled.store(true, ordering: .releasing)
            finish(nil)
        case .look(let deadline)?:
            state.onLoop.idleness.pace = .zero
            again(after: .nanoseconds(Int64(clamping: deadline - now)))
        case IdleMachine.Action.none?, nil:
            // Subscribers, commands and tokens report their end.
            guard holds.calls > queues.count || holds.units > 0 else {
                state.onLoop.idleness.pace = .zero
                return
            }
            let pace = min(
                max(state.onLoop.idleness.pace * 2, timing.idle.looks.lowerBound), timing.idle.looks.upperBound)
            state.onLoop.idleness.pace = pace
            again(after: pace)
        }
    }
    private func again(after time: Duration) {
        state.onLoop.idleness.timer = loop.schedule(after: time) { [weak self] in self?.look() }
    }
    private func holds(_ activity: LogActivity) -> IdleMachine.Holds {
        IdleMachine.Holds(
            subscribers: interfaces.reduce(0) { $0 + $1.stream.users }, calls: openCalls,
            tokens: activities.value, units: activity.isBusy ? 1 : 0)
    }
    private var log: (any EventLogStorage)? { interfaces.lazy.compactMap(\.log).first?.storage }
    /// Calls that are not answered yet.
    private var openCalls: Int {
        queues.count + gate.state.onLoop.queue.count + directory.waitingCount + replies.state.onLoop.held.count
            + reads.openCount + (rings.isIdle ? 0 : 1)
    }
    /// Waits until all calls that came are answered, and all activities have ended; or until the deadline.
    func settle(until deadline: UInt64) async {
        // Again and again, as this is for the end of a service's life only.
        while MonotonicClock.now < deadline {
            let isSettled = await withCheckedContinuation { continuation in
                loop.execute { [self] in continuation.resume(returning: openCalls == 0) }
            }
            if isSettled, !hasIdled.load(ordering: .acquiring) || activities.value == 0 { return }
            try? await Task.sleep(for: timing.bus.look)
        }
    }
}

extension PublishedStream {
    /// Peers that have events from it.
    var users: Int { state.withLock { $0.subscribers.count + $0.outlets.readers } }
}
