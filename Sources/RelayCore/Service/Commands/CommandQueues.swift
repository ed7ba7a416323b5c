@_spi(Relay) import RelayEvents
import Synchronization

/// What is done for a call when its turn comes.
enum QueuedWork: Sendable {
    /// Its handler runs, which is the user's code: it may block.
    case command(AnyExportedCommand, Peer, holding: PeerLedger.Charge?)
    /// A question about the service or its documents is answered.
    case answer(@Sendable () async -> Void)

    var isCommand: Bool { if case .command = self { true } else { false } }
    /// Where it runs, if it begins on the loop's thread.
    fileprivate var isShort: Bool {
        if case .command(let command, _, _) = self { command.length.isShort } else { false }
    }
}

/// What does it. It is kept while a call runs.
protocol QueueServer: AnyObject, Sendable {
    func serve(_ call: IncomingCall, _ work: QueuedWork) async
    /// A call gives way to the end, without having run.
    func refuseStopping(_ call: IncomingCall)
}

/// The calls that wait, a queue for each peer: those of one peer run in order, those of different peers at the same
/// time.
///
/// - Isolation: commands run on `handlers`, whose threads their handlers may hold; those that have proved short on the
///   loop's own thread, which another one takes over should they hold it. Answers run on Relay's own threads, so that a
///   service can be asked how it is while all its handlers block. Where it runs is the only difference: each queue is
///   run by a task of `QueueRunners`.
/// - Loss: what waits is charged to its peer. Past the bounds a call is refused, so that a peer or a user that floods
///   hurts only itself.
final class CommandQueues: Sendable {
    fileprivate struct Entry {
        let call: IncomingCall
        let work: QueuedWork
        /// While it waits. Nil: its turn came at once, and it is no larger than what each peer may have in any case.
        let charge: PeerLedger.Charge?
    }
    /// Under the lock of the state. It stays, empty, until its peer leaves.
    fileprivate final class PeerQueue: @unchecked Sendable {
        let peer: String
        var entries = Deque<Entry>()
        /// A task runs it, or is about to.
        var isRunning = false
        /// That task, once it has begun.
        var runner: QueueRunners.Runner?
        /// Its peer is not there: it goes when it is empty.
        var hasLeft: Bool

        init(_ peer: String, hasLeft: Bool) { (self.peer, self.hasLeft) = (peer, hasLeft) }
    }
    fileprivate enum Place { case loop, handlers, own }
    /// A queue that has got its first call, or whose next one runs elsewhere.
    fileprivate struct Start: QueueRunners.Work {
        let queues: CommandQueues
        let queue: PeerQueue
        let place: Place

        func run(by runner: QueueRunners.Runner) async { await queues.run(queue, at: place, by: runner) }
    }
    private struct State {
        weak var server: (any QueueServer)?
        var queues = PeerTable<PeerQueue>()
        /// Waiting and running.
        var count = 0
        /// Of them, the calls of commands.
        var commands = 0
        var isClosed = false
        /// What comes waits here until `goOn`.
        var isHolding = false
        var held: [Entry] = []
        var onNone: (@Sendable () -> Void)?
        var waiters: [CheckedContinuation<Void, Never>] = []

        /// Counts an ended one; returns what to do if it was the last.
        mutating func end(isCommand: Bool) -> Ends {
            count -= 1
            if isCommand { commands -= 1 }
            return count == 0 ? Ends(waiters: isClosed || isHolding ? takeWaiters() : [], onNone: onNone) : Ends()
        }
        /// Counts dropped ones; returns the waiters to wake, if they were the last.
        mutating func drop(_ entries: [Entry]) -> [CheckedContinuation<Void, Never>] {
            count -= entries.count
            commands -= entries.count(where: \.work.isCommand)
            return (isClosed || isHolding) && count == 0 ? takeWaiters() : []
        }
        mutating func takeWaiters() -> [CheckedContinuation<Void, Never>] {
            defer { waiters = [] }
            return waiters
        }
    }
    /// Whom to notify of a call's end.
    private struct Ends {
        var waiters: [CheckedContinuation<Void, Never>] = []
        var onNone: (@Sendable () -> Void)?

        func notify() {
            for waiter in waiters { waiter.resume() }
            onNone?()
        }
    }
    private let state = Mutex(State())
    private let ledger: PeerLedger
    /// Where commands run.
    let handlers: HandlerThreads
    private let runners: QueueRunners
    private let answering = QueueRunners(on: .own)
    private let loop: BusLoop
    /// So long the loop's thread serves one peer in a row, in nanoseconds: it has others.
    private static let budget: UInt64 = 200_000
    /// A call with so many bytes needs no charge when its peer has no other: each peer's own is more than that.
    private static let ownBytes = PeerResource.queuedBytes.bounds.reserve

    init(_ ledger: PeerLedger, _ handlers: HandlerThreads, _ loop: BusLoop) {
        (self.ledger, self.handlers, self.loop) = (ledger, handlers, loop)
        runners = QueueRunners(on: handlers)
    }
    deinit {
        runners.end()
        answering.end()
    }

    func setServer(_ server: some QueueServer) { state.withLock { $0.server = server } }

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

    /// Serves a call after those of the same peer that came before; or refuses it, if it has to give way to the end.
    func add(_ call: IncomingCall, _ work: QueuedWork) -> Admission {
        let isOnLoop = work.isShort && loop.canLend
        let (admission, start) = state.withLock { state -> (Admission, Start?) in
            if state.isClosed { return (.closed, nil) }
            let queue = queue(of: call.sender, &state)
            var charge: PeerLedger.Charge?
            if !isOnLoop || state.isHolding || queue.isRunning || call.body.count > Self.ownBytes {
                do throws(PeerLedger.Refusal) {
                    charge = try ledger.charge(
                        call: .queuedCalls, arguments: .queuedBytes, call.body.count, to: call.sender)
                } catch {
                    if queue.hasLeft && !queue.isRunning { state.queues.remove(queue.peer) }
                    return (.full(error.message), nil)
                }
            }
            let entry = Entry(call: call, work: work, charge: charge)
            if state.isHolding {
                state.held.append(entry)
                return (.admitted, nil)
            }
            return (.admitted, append(entry, to: queue, isOnLoop: isOnLoop, &state))
        }
        if let start { begin(start) }
        return admission
    }
    private func queue(of peer: String, _ state: inout State) -> PeerQueue {
        // Its peer may have left while it was asked who that is.
        let place = state.queues.place(of: peer, orMake: PeerQueue(peer, hasLeft: !ledger.isPresent(peer)))
        return state.queues[place]
    }
    /// - Parameter isOnLoop: it is short, and the caller is the loop's thread.
    private func append(_ entry: Entry, to queue: PeerQueue, isOnLoop: Bool, _ state: inout State) -> Start? {
        state.count += 1
        if entry.work.isCommand { state.commands += 1 }
        queue.entries.append(entry)
        if queue.isRunning { return nil }
        queue.isRunning = true
        let place: Place = !entry.work.isCommand ? .own : isOnLoop ? .loop : .handlers
        return Start(queues: self, queue: queue, place: place)
    }
    /// Not under the lock: to begin wakes a thread, which would wait for the lock at once.
    private func begin(_ start: Start) {
        switch start.place {
        case .own: answering.run(start)
        case .handlers: runners.run(start)
        case .loop:
            guard let job = handlers.takingJob({ runners.run(start) }) else { return }
            loop.lend(
                LentJob { [handlers] in
                    handlers.run(job)
                } orElse: { [handlers] in
                    handlers.enqueue(job)
                })
        }
    }
    /// Runs what has been held since it was closed for a while.
    func goOn() {
        let starts = state.withLock { state -> [Start] in
            state.isHolding = false
            defer { state.held = [] }
            return state.held.compactMap { entry in
                append(entry, to: queue(of: entry.call.sender, &state), isOnLoop: false, &state)
            }
        }
        for start in starts { begin(start) }
    }
    /// Calls back whenever the last job has ended.
    func onNone(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.onNone = body } }
    /// A peer has left: what only it waited for is dropped.
    func depart(_ peer: String) {
        let waiters = state.withLock { state in
            state.held.removeAll { $0.call.sender == peer && $0.call.wantsReply }
            guard let queue = state.queues[peer] else { return [CheckedContinuation<Void, Never>]() }
            var dropped: [Entry] = []
            queue.entries.filter { entry in
                if entry.call.wantsReply { dropped.append(entry) }
                return !entry.call.wantsReply
            }
            queue.hasLeft = true
            if !queue.isRunning { state.queues.remove(peer) }
            return state.drop(dropped)
        }
        for waiter in waiters { waiter.resume() }
    }
    /// Takes no more, and returns when everything has run: or, for the sake of the end, when `patience` is over, what
    /// waits then is refused, what runs is cancelled, and has had `grace` to heed that.
    ///
    /// - Parameter holding: what comes meanwhile is not refused, but waits for `goOn`.
    func close(patience: Duration, grace: Duration, holding: Bool = false) async {
        let cutting = OwnTimer(after: patience) { [self] in cut() }
        let ending = OwnTimer(after: patience + grace) { [self] in
            for waiter in state.withLock({ $0.takeWaiters() }) { waiter.resume() }
        }
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                (state.isClosed, state.isHolding) = (!holding, holding)
                if state.count > 0 { state.waiters.append(continuation) }
                return state.count == 0
            }
            if isIdle { continuation.resume() }
        }
        cutting.cancel()
        ending.cancel()
    }
    /// Takes no more, refuses what waits and cancels what runs, and waits for none of it.
    func abandon() {
        state.withLock { ($0.isClosed, $0.isHolding) = (true, false) }
        cut()
    }
    private func cut() {
        let (server, refused, runners, waiters) = state.withLock { state in
            var (refused, runners): ([Entry], [QueueRunners.Runner]) = ([], [])
            // Empty queues stay: somebody runs there.
            for (_, queue) in state.queues.entries {
                while let entry = queue.entries.popFirst() { refused.append(entry) }
                guard let runner = queue.runner else { continue }
                // Here, so that it is not another queue's when it is cancelled.
                runner.spend()
                runners.append(runner)
            }
            return (state.server, refused, runners, state.drop(refused))
        }
        for entry in refused { server?.refuseStopping(entry.call) }
        for runner in runners { runner.cancel() }
        for waiter in waiters { waiter.resume() }
    }

    fileprivate func run(_ queue: PeerQueue, at place: Place, by runner: QueueRunners.Runner) async {
        // A task that had come to rest on the loop's thread, and was woken before it left that.
        if place != .loop && loop.isOwnThread { await Task.yield() }
        let begun = MonotonicClock.now
        // Whether that was a command.
        var ended: Bool?
        while let (call, work, server) = next(queue, place, begun, runner, after: ended) {
            let scope = CommandScope(self)
            await CommandScope.$current.withValue(scope) { await server?.serve(call, work) }
            scope.end()
            ended = work.isCommand
        }
    }
    /// The next call that runs here. Nil: there is none, or it runs elsewhere.
    private func next(
        _ queue: PeerQueue, _ place: Place, _ begun: UInt64, _ runner: QueueRunners.Runner, after ended: Bool?
    ) -> (call: IncomingCall, work: QueuedWork, server: (any QueueServer)?)? {
        let (entry, server, start, ends) = state.withLock { state -> (Entry?, (any QueueServer)?, Start?, Ends) in
            let ends = ended.map { state.end(isCommand: $0) } ?? Ends()
            guard let first = queue.entries.first else {
                (queue.isRunning, queue.runner) = (false, nil)
                if queue.hasLeft { state.queues.remove(queue.peer) }
                return (nil, nil, nil, ends)
            }
            let isHere =
                switch place {
                case .own: !first.work.isCommand
                case .handlers: first.work.isCommand
                case .loop: first.work.isShort && (ended == nil || MonotonicClock.now &- begun < Self.budget)
                }
            if !isHere {
                queue.runner = nil
                let place: Place = first.work.isCommand ? .handlers : .own
                return (nil, nil, Start(queues: self, queue: queue, place: place), ends)
            }
            queue.runner = runner
            return (queue.entries.popFirst(), state.server, nil, ends)
        }
        ends.notify()
        if let start { begin(start) }
        // Its charge ends here: it waits no longer.
        return entry.map { ($0.call, $0.work, server) }
    }
}
