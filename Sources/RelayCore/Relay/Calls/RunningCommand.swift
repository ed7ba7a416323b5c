import Synchronization

/// A command that is under way: its progress, and its outcome.
///
/// ```swift
/// let printing = relay.start(PrintJob(title: "Encyclopedia", pages: 9_000))
/// for await progress in printing.progress { show(progress.page) }
/// let reply = try await printing.outcome.get()
/// ```
///
/// - Order: ``progress`` in the order of reporting, all of it before ``outcome``. The reply comes after the events that
///   the service published before it, as with any call.
/// - Loss: a reader that falls behind misses the oldest of more than 16 values.
/// - Cancellation: ``cancel()``, or the cancellation of a task that waits for ``outcome``. A handler whose command is
///   ``Command/isCancellable`` is cancelled, too; any other runs to its end. The release of this object cancels
///   nothing.
public final class RunningCommand<C: Command>: Sendable {
    /// What the command reports. It ends when the command ends.
    public let progress: AsyncStream<C.Progress>
    private let state = Mutex<State>(.waiting([]))
    /// Decoded once: a file descriptor in the reply has one owner, whoever asks for the outcome.
    private let decoded = Mutex<CommandOutcome<C>?>(nil)
    private let decode: @Sendable (Result<BusReply, RelayError>) -> CommandOutcome<C>
    private let onCancel: @Sendable () -> Void
    private let listener: AsyncStream<C.Progress>.Continuation

    private enum State {
        case waiting([CheckedContinuation<Result<BusReply, RelayError>, Never>])
        case ended(Result<BusReply, RelayError>)
    }

    init(
        _ stream: (stream: AsyncStream<C.Progress>, continuation: AsyncStream<C.Progress>.Continuation),
        decoding decode: @escaping @Sendable (Result<BusReply, RelayError>) -> CommandOutcome<C>,
        onCancel: @escaping @Sendable () -> Void
    ) {
        (progress, listener) = stream
        (self.decode, self.onCancel) = (decode, onCancel)
    }
    /// How the command ended, the same for everyone who asks. It waits for the end.
    public var outcome: CommandOutcome<C> {
        get async {
            let result: Result<BusReply, RelayError> = await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let ended = state.withLock { state -> Result<BusReply, RelayError>? in
                        switch state {
                        case .ended(let result): return result
                        case .waiting(let waiters):
                            state = .waiting(waiters + [continuation])
                            return nil
                        }
                    }
                    if let ended { continuation.resume(returning: ended) }
                }
            } onCancel: {
                cancel()
            }
            return decoded.withLock { decoded in
                let outcome = decoded ?? decode(result)
                decoded = outcome
                return outcome
            }
        }
    }
    /// Ends the call with `.cancelled`, unless it has ended. A second call does nothing.
    public func cancel() { onCancel() }

    func end(_ result: Result<BusReply, RelayError>) {
        let waiters = state.withLock { state -> [CheckedContinuation<Result<BusReply, RelayError>, Never>] in
            guard case .waiting(let waiters) = state else { return [] }
            state = .ended(result)
            return waiters
        }
        listener.finish()
        for waiter in waiters { waiter.resume(returning: result) }
    }
}

extension EventRelay {
    /// Sends a command once, and returns at once: for a command that takes long, and reports its progress.
    ///
    /// Everything else is as with ``outcome(of:timeout:)``. Calls of `start` and `call` are sent in their order.
    ///
    /// - Parameter command: the request.
    /// - Parameter timeout: how long the command may take.
    /// - Returns: the command under way.
    public func start<C: Command>(_ command: C, timeout: Duration = .seconds(25)) -> RunningCommand<C> {
        let stream = AsyncStream.makeStream(of: C.Progress.self, bufferingPolicy: .bufferingNewest(16))
        let listener = stream.continuation
        do throws(RelayError) {
            let (codec, call) = try prepare(command)
            let ticket = CallTicket(isCancellable: C.isCancellable) { signature, body in
                if let progress = codec.decodeProgress(signature, body) { listener.yield(progress) }
            }
            let core = follower.core
            let running = RunningCommand<C>(stream, decoding: codec.outcome(of:)) { core.cancel(ticket) }
            core.begin(call, timeout: timeout, ticket) { running.end($0) }
            return running
        } catch {
            let running = RunningCommand<C>(stream, decoding: { _ in .failed(error) }, onCancel: {})
            running.end(.failure(error))
            return running
        }
    }
}
