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
///   service can be asked how it is while all its handlers block.
/// - Loss: what waits is charged to its peer. Past the bounds a call is refused, so that a peer or a user that floods
///   hurts only itself.
final class CommandQueues: Sendable {
    private struct Entry {
        let call: IncomingCall
        let work: QueuedWork
        /// While it waits.
        let charge: PeerLedger.Charge
    }
    /// Under the lock of the state.
    private final class PeerQueue: @unchecked Sendable {
        let peer: String
        var entries = Deque<Entry>()
        /// What runs its calls: known a moment after it has begun.
        var task: Task<Void, Never>?
        /// What runs is cancelled.
        var isCut = false

        init(_ peer: String) { self.peer = peer }
    }
    private enum Place { case loop, handlers, own }
    /// A queue that has got its first call, or whose next one runs elsewhere.
    private struct Start {
        let queue: PeerQueue
        let place: Place
    }
    private struct State {
        weak var server: (any QueueServer)?
        /// Those that have a task.
        var queues: [String: PeerQueue] = [:]
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

        /// - Parameter isOnLoop: it is short, and the caller is the loop's thread.
        mutating func append(_ entry: Entry, isOnLoop: Bool = false) -> Start? {
            count += 1
            if entry.work.isCommand { commands += 1 }
            if let queue = queues[entry.call.sender] {
                queue.entries.append(entry)
                return nil
            }
            let queue = PeerQueue(entry.call.sender)
            queue.entries.append(entry)
            queues[queue.peer] = queue
            let place: Place = !entry.work.isCommand ? .own : isOnLoop ? .loop : .handlers
            return Start(queue: queue, place: place)
        }
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
    /// Where commands run.
    let handlers: HandlerThreads
    private let loop: BusLoop
    /// So long the loop's thread serves one peer in a row, in nanoseconds: it has others.
    private static let budget: UInt64 = 200_000

    init(_ ledger: PeerLedger, _ handlers: HandlerThreads, _ loop: BusLoop) {
        (self.ledger, self.handlers, self.loop) = (ledger, handlers, loop)
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
            let charge: PeerLedger.Charge
            do throws(PeerLedger.Refusal) {
                charge = try ledger.charge(
                    call: .queuedCalls, arguments: .queuedBytes, call.body.count, to: call.sender)
            } catch { return (.full(error.message), nil) }
            let entry = Entry(call: call, work: work, charge: charge)
            if state.isHolding {
                state.held.append(entry)
                return (.admitted, nil)
            }
            return (.admitted, state.append(entry, isOnLoop: isOnLoop))
        }
        if let start { begin(start) }
        return admission
    }
    /// Not under the lock: to begin a task wakes a thread, which would wait for the lock at once.
    private func begin(_ start: Start) {
        func makeTask() -> Task<Void, Never> {
            Task.detached(executorPreference: start.place == .own ? .own : handlers) { [self] in
                await run(start.queue, at: start.place)
            }
        }
        let task: Task<Void, Never>
        if start.place == .loop {
            var made: Task<Void, Never>?
            let job = handlers.takingJob { made = makeTask() }
            if let job {
                loop.lend(
                    LentJob { [handlers] in
                        handlers.run(job)
                    } orElse: { [handlers] in
                        handlers.enqueue(job)
                    })
            }
            guard let made else { return }
            task = made
        } else {
            task = makeTask()
        }
        let isCut = state.withLock { _ in
            start.queue.task = task
            return start.queue.isCut
        }
        if isCut { task.cancel() }
    }
    /// Runs what has been held since it was closed for a while.
    func goOn() {
        let starts = state.withLock { state in
            state.isHolding = false
            defer { state.held = [] }
            return state.held.compactMap { state.append($0) }
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
            var (dropped, commands) = (0, 0)
            queue.entries.filter { entry in
                if !entry.call.wantsReply { return true }
                dropped += 1
                if entry.work.isCommand { commands += 1 }
                return false
            }
            return state.end(dropped, commands: commands)
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
        let (server, refused, tasks, waiters) = state.withLock { state in
            var (refused, tasks): ([Entry], [Task<Void, Never>]) = ([], [])
            // Empty queues stay: somebody runs there.
            for queue in state.queues.values {
                while let entry = queue.entries.popFirst() { refused.append(entry) }
                if let task = queue.task { tasks.append(task) }
                queue.isCut = true
            }
            let commands = refused.count(where: \.work.isCommand)
            return (state.server, refused, tasks, state.end(refused.count, commands: commands))
        }
        for entry in refused { server?.refuseStopping(entry.call) }
        for task in tasks { task.cancel() }
        for waiter in waiters { waiter.resume() }
    }

    private func run(_ queue: PeerQueue, at place: Place) async {
        let begun = MonotonicClock.now
        while let (call, work, server) = next(queue, place, begun) {
            let scope = CommandScope(self)
            await CommandScope.$current.withValue(scope) { await server?.serve(call, work) }
            scope.end()
            let (waiters, onNone) = state.withLock { state in
                let waiters = state.end(1, commands: work.isCommand ? 1 : 0)
                return (waiters, state.count == 0 ? state.onNone : nil)
            }
            for waiter in waiters { waiter.resume() }
            onNone?()
        }
    }
    /// The next call that runs here. Nil: there is none, or it runs elsewhere.
    private func next(
        _ queue: PeerQueue, _ place: Place, _ begun: UInt64
    ) -> (call: IncomingCall, work: QueuedWork, server: (any QueueServer)?)? {
        let (entry, server, start) = state.withLock { state -> (Entry?, (any QueueServer)?, Start?) in
            guard let first = queue.entries.first else {
                state.queues[queue.peer] = nil
                return (nil, nil, nil)
            }
            let isHere =
                switch place {
                case .own: !first.work.isCommand
                case .handlers: first.work.isCommand
                case .loop: first.work.isShort && MonotonicClock.now &- begun < Self.budget
                }
            if !isHere { return (nil, nil, Start(queue: queue, place: first.work.isCommand ? .handlers : .own)) }
            return (queue.entries.popFirst(), state.server, nil)
        }
        if let start { begin(start) }
        // Its charge ends here: it waits no longer.
        return entry.map { ($0.call, $0.work, server) }
    }
}
