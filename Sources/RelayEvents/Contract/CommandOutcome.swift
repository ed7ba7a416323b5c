/// How a command ended: with its reply, with a refusal that it declares, or with a failure on the way.
///
/// ```swift
/// switch await relay.outcome(of: PrintJob(title: "Invitation", pages: 2)) {
/// case .success(let reply): print("is job \(reply.jobID)")
/// case .refused(.tooLong): print("too long")
/// case .failed(let error): print(error.message)  // No service, no answer in time, …
/// }
/// ```
///
/// A command without a `Refusal` needs no case for refusals.
public enum CommandOutcome<C: Command>: Sendable {
    /// The command has run.
    case success(C.Reply)
    /// The handler refused, in a way that the command declares. Nothing was changed.
    case refused(C.Refusal)
    /// The call or its reply did not arrive. ``RelayError/mayHaveRun`` reports whether the command may have run.
    case failed(RelayError)

    /// The reply, or what the throwing call throws.
    ///
    /// - Returns: the reply.
    /// - Throws: the command's `Refusal` as it is, or the error of ``failed(_:)``.
    public func get() throws -> C.Reply {
        switch self {
        case .success(let reply): return reply
        case .refused(let refusal): throw refusal
        case .failed(let error): throw error
        }
    }
}

extension CommandOutcome: Equatable where C.Reply: Equatable {}
