import Synchronization
/// The calls that their callers may cancel, from their admission to their answer.
///
/// A cancellation goes past the queue of its caller's calls: one that waits there is answered in its turn without having
/// run, one that runs is cancelled as a task.
final class RunningCalls: Sendable {
    typealias Answer = AnyExportedCommand.Answer
    private struct Key: Hashable {
        let peer: String
        let serial: UInt32
        init(_ peer: String, _ serial: UInt32) { (self.peer, self.serial) = (peer, serial) }
        init(_ call: IncomingCall) { self.init(call.sender, call.serial) }
    }
    private enum Phase {
        case waiting
        case cancelled
        case running(Task<Answer, Never>)
    }
    private let calls = Mutex<[Key: Phase]>([:])
    /// Where handlers run.
    private let handlers: HandlerThreads

    init(_ handlers: HandlerThreads) { self.handlers = handlers }
    /// Those that wait and those that run.
    var count: Int { calls.withLock { $0.count } }

    func admit(_ call: IncomingCall) { calls.withLock { $0[Key(call)] = .waiting } }
    /// It was answered, or will not be.
    func remove(_ call: IncomingCall) { calls.withLock { $0[Key(call)] = nil } }

    /// Runs an admitted call, unless it was cancelled. It is cancelled with the caller's task, too.
    func run(_ call: IncomingCall, _ body: @escaping @Sendable () async -> Answer) async -> Answer {
        let key = Key(call)
        let task = calls.withLock { calls -> Task<Answer, Never>? in
            if case .cancelled? = calls[key] { return nil }
            // Under the lock, so that it is known before a cancellation can look for it.
            let task = Task(executorPreference: handlers) { await body() }
            // Without an entry its caller has left.
            if calls[key] != nil { calls[key] = .running(task) } else { task.cancel() }
            return task
        }
        defer { remove(call) }
        guard let task else { return Self.cancelled(call) }
        return await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }
    static func cancelled(_ call: IncomingCall) -> Answer {
        .error(name: ErrorNames.name(for: .cancelled), message: "\(call.member) was cancelled before it ran")
    }
    /// Without effect on a call that has been answered, and on another peer's.
    func cancel(_ serial: UInt32, of peer: String) {
        let task = calls.withLock { calls -> Task<Answer, Never>? in
            let key = Key(peer, serial)
            switch calls[key] {
            case .waiting?: calls[key] = .cancelled
            case .running(let task)?: return task
            case .cancelled?, nil: break
            }
            return nil
        }
        task?.cancel()
    }
    /// A peer has left: nobody waits for its calls.
    func depart(_ peer: String) {
        let left = calls.withLock { calls in
            let left = calls.filter { $0.key.peer == peer }
            for key in left.keys { calls[key] = nil }
            return left
        }
        for case .running(let task) in left.values { task.cancel() }
    }
}
