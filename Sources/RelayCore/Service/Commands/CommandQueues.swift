import Synchronization

/// The commands that wait, a queue for each peer: those of one peer run in order, those of different peers at the same
/// time.
///
/// What waits is charged to its peer: past the bounds a call is refused, so that a peer or a user that floods hurts only
/// itself.
final class CommandQueues: Sendable {
    typealias Job = @Sendable () async -> Void
    private struct Entry {
        let job: Job
        /// While it waits.
        let charge: PeerLedger.Charge
        /// Whether somebody waits for an answer: then it is pointless once the peer has gone.
        let isAwaited: Bool
        /// Else a question about the service or its documents.
        let isCommand: Bool
        /// Answers without having run.
        let refuse: @Sendable () -> Void
    }
    private struct State {
        var queues: [String: [Entry]] = [:]
        /// What runs now, by peer.
        var tasks: [String: Task<Void, Never>] = [:]
        /// Waiting and running.
        var count = 0
        /// Of them, the calls of commands.
        var commands = 0
        var isClosed = false
        /// What comes waits here until `goOn`.
        var isHolding = false
        var held: [(peer: String, entry: Entry)] = []
        var onNone: (@Sendable () -> Void)?
        var waiters: [CheckedContinuation<Void, Never>] = []

        /// Counts ended ones; returns the waiters to wake, if they were the last.
        mutating func end(_ ended: Int, commands endedCommands: Int) -> [CheckedContinuation<Void, Never>] {
            count -= ended
            commands -= endedCommands
            return (isClosed || isHolding) && count == 0 ? takeWaiters() : []
        }
        mutating func takeWaiters() -> [CheckedContinuation<Void, Never>] {
            defer { waiters = [] }
            return waiters
        }
    }
    private let state = Mutex(State())
    private let ledger: PeerLedger

    init(_ ledger: PeerLedger) { self.ledger = ledger }

    /// What comes now waits until `goOn`.
    var isHolding: Bool { state.withLock { $0.isHolding } }
    /// Those that wait and those that run.
    var count: Int { state.withLock { $0.count } }
    /// Of those, the calls of commands: what asks for a status is none.
    var commands: Int { state.withLock { $0.commands } }

    enum Admission {
        case admitted
        /// Why.
        case full(String)
        case closed
    }

    /// Runs a job after those of the same peer that came before; or calls `refuse`, if it has to give way to the end.
    ///
    /// - Parameter cost: the bytes of its arguments.
    func add(
        _ peer: String, cost: Int, isAwaited: Bool, isCommand: Bool, _ job: @escaping Job,
        refuse: @escaping @Sendable () -> Void
    ) -> Admission {
        state.withLock { state in
            if state.isClosed { return .closed }
            let charge: PeerLedger.Charge
            do throws(PeerLedger.Refusal) {
                charge = try ledger.charge(call: .queuedCalls, arguments: .queuedBytes, cost, to: peer)
            } catch { return .full(error.message) }
            let entry = Entry(job: job, charge: charge, isAwaited: isAwaited, isCommand: isCommand, refuse: refuse)
            if state.isHolding { state.held.append((peer, entry)) } else { start(entry, of: peer, &state) }
            return .admitted
        }
    }
    private func start(_ entry: Entry, of peer: String, _ state: inout State) {
        let isFirst = state.queues[peer] == nil
        state.queues[peer, default: []].append(entry)
        state.count += 1
        if entry.isCommand { state.commands += 1 }
        // Under the lock, so that it is known before it can end.
        if isFirst { state.tasks[peer] = Task { await run(peer) } }
    }
    /// Runs what has been held since it was closed for a while.
    func goOn() {
        state.withLock { state in
            state.isHolding = false
            for (peer, entry) in state.held { start(entry, of: peer, &state) }
            state.held = []
        }
    }
    /// Calls back whenever the last job has ended.
    func onNone(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.onNone = body } }
    /// A peer has left: what only it waited for is dropped.
    func depart(_ peer: String) {
        let waiters = state.withLock { state in
            state.held.removeAll { $0.peer == peer && $0.entry.isAwaited }
            guard let queue = state.queues[peer] else { return [CheckedContinuation<Void, Never>]() }
            let kept = queue.filter { !$0.isAwaited }
            state.queues[peer] = kept
            return state.end(
                queue.count - kept.count, commands: queue.count { $0.isAwaited && $0.isCommand })
        }
        for waiter in waiters { waiter.resume() }
    }
    /// Takes no more, and returns when everything has run: or, for the sake of the end, when `patience` is over, what
    /// waits then is refused, what runs is cancelled, and has had `grace` to heed that.
    ///
    /// - Parameter holding: what comes meanwhile is not refused, but waits for `goOn`.
    func close(patience: Duration, grace: Duration, holding: Bool = false) async {
        let clock = Task {
            do {
                try await Task.sleep(for: patience)
                cut()
                try await Task.sleep(for: grace)
                for waiter in state.withLock({ $0.takeWaiters() }) { waiter.resume() }
            } catch {
                // All has run.
            }
        }
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                (state.isClosed, state.isHolding) = (!holding, holding)
                if state.count > 0 { state.waiters.append(continuation) }
                return state.count == 0
            }
            if isIdle { continuation.resume() }
        }
        clock.cancel()
    }
    /// Takes no more, refuses what waits and cancels what runs, and waits for none of it.
    func abandon() {
        state.withLock { ($0.isClosed, $0.isHolding) = (true, false) }
        cut()
    }
    private func cut() {
        let (refused, tasks, waiters) = state.withLock { state in
            let refused = state.queues.values.flatMap(\.self)
            // Empty ones stay: somebody runs there.
            for peer in state.queues.keys { state.queues[peer] = [] }
            let commands = refused.count { $0.isCommand }
            return (refused, Array(state.tasks.values), state.end(refused.count, commands: commands))
        }
        for entry in refused { entry.refuse() }
        for task in tasks { task.cancel() }
        for waiter in waiters { waiter.resume() }
    }

    private func run(_ peer: String) async {
        while let (job, isCommand) = next(peer) {
            let scope = CommandScope(self)
            await CommandScope.$current.withValue(scope) { await job() }
            scope.end()
            let (waiters, onNone) = state.withLock { state in
                let waiters = state.end(1, commands: isCommand ? 1 : 0)
                return (waiters, state.count == 0 ? state.onNone : nil)
            }
            for waiter in waiters { waiter.resume() }
            onNone?()
        }
    }
    private func next(_ peer: String) -> (Job, isCommand: Bool)? {
        state.withLock { state in
            guard let first = state.queues[peer]?.first else {
                (state.queues[peer], state.tasks[peer]) = (nil, nil)
                return nil
            }
            state.queues[peer]?.removeFirst()
            return (first.job, first.isCommand)
        }
    }
}
