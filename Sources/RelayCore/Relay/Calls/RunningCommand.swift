import Synchronization

/// A command that is under way, with its progress and its outcome.
///
/// ```swift
/// let printing = relay.start(PrintJob(title: "Encyclopedia", pages: 9_000))
/// for await progress in printing.progress { show(progress.page) }
/// let reply = try await printing.outcome.get()
/// ```
///
/// - Order: ``progress`` yields values in the order in which they were reported, all of them before ``outcome``. As
///   with any call, the reply arrives after the events that the service published before it.
/// - Loss: ``progress`` holds 16 values; a slow reader misses the oldest.
/// - Cancellation: ``cancel()``, or the cancellation of a task that waits for ``outcome``. If the command is
///   ``Command/isCancellable``, its handler is cancelled, too; otherwise the handler runs to its end. Releasing this
///   object cancels nothing.
public final class RunningCommand<C: Command>: Sendable {
    /// The values that the command reports. The sequence ends when the command ends.
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
    /// How the command ended. Reading it waits for the end; every reader gets the same outcome.
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
    /// Ends the call with `.cancelled`, unless it has already ended. A second `cancel()` does nothing.
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
    /// Sends a command once, and returns immediately: for commands that take long and report progress.
    ///
    /// In all other respects it works like ``outcome(of:timeout:)``. `start` and `call` send commands in the order of
    /// the calls.
    ///
    /// - Parameter command: the request.
    /// - Parameter timeout: how long the command may take.
    /// - Returns: the command under way.
    public func start<C: Command>(_ command: C, timeout: Duration? = nil) -> RunningCommand<C> {
        let stream = AsyncStream.makeStream(of: C.Progress.self, bufferingPolicy: .bufferingNewest(16))
        let listener = stream.continuation
        do throws(RelayError) {
            let (codec, call) = try prepare(command)
            let ticket = CallTicket(isCancellable: C.isCancellable) { signature, body in
                if let progress = codec.decodeProgress(signature, body) { listener.yield(progress) }
            }
            let calls = follower.core.calls
            let running = RunningCommand<C>(stream, decoding: codec.outcome(of:)) { calls.cancel(ticket) }
            calls.begin(call, codec.form, timeout: timeout ?? codec.form.patience, ticket) { running.end($0) }
            return running
        } catch {
            let running = RunningCommand<C>(stream, decoding: { _ in .failed(error) }, onCancel: {})
            running.end(.failure(error))
            return running
        }
    }
}
