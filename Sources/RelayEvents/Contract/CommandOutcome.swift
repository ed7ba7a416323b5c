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
/// A command without a `Failure` needs no case for refusals.
public enum CommandOutcome<C: Command>: Sendable {
    /// The command has run.
    case success(C.Reply)
    /// The handler refused, in a way that the command declares. Nothing was changed.
    case refused(C.Failure)
    /// The call or its reply did not arrive. ``RelayError/mayHaveRun`` reports whether the command may have run.
    case failed(RelayError)

    /// The reply.
    ///
    /// ```swift
    /// do throws(RelayError) {
    ///     jobID = try await relay.outcome(of: job).get().jobID
    /// } catch { show(error.message) }
    /// ```
    ///
    /// - Returns: the reply.
    /// - Throws: `.refused` with the refusal as its cause, or the error of ``failed(_:)``.
    public func get() throws(RelayError) -> C.Reply {
        switch self {
        case .success(let reply): return reply
        case .refused(let failure): throw RelayError(C.self, refused: failure)
        case .failed(let error): throw error
        }
    }
}

extension CommandOutcome: Equatable where C.Reply: Equatable {}

extension RelayError {
    /// A refusal, as the throwing call throws it.
    init<C: Command>(_ command: C.Type, refused failure: C.Failure) {
        self.init(.refused, "\(C.name) was refused as \(failure.errorName): \(failure.message)", cause: failure)
    }
    /// The refusal of a command; nil for any other error.
    ///
    /// ```swift
    /// catch let error as RelayError where error.refusal(of: PrintJob.self) == .tooLong { split() }
    /// ```
    ///
    /// - Parameter command: the command that was called.
    /// - Returns: the failure that the handler threw, if this command declares it.
    public func refusal<C: Command>(of command: C.Type) -> C.Failure? {
        code == .refused ? cause as? C.Failure : nil
    }
}

extension RelayError {
    /// A pattern that matches one declared refusal in a `catch`: see ``RelayError/refused(_:)``.
    public struct Refusal: Sendable {
        fileprivate let matches: @Sendable (RelayError) -> Bool

        /// Whether an error of a throwing call is this refusal.
        ///
        /// - Parameter refusal: the refusal.
        /// - Parameter error: any error.
        /// - Returns: true for a ``RelayError`` with the code `.refused` whose cause equals this failure.
        public static func ~= (refusal: Self, error: any Error) -> Bool {
            (error as? RelayError).map { $0.code == .refused && refusal.matches($0) } ?? false
        }
    }
    /// Matches one declared refusal in a `catch`.
    ///
    /// ```swift
    /// do { try await relay.call(job) } catch RelayError.refused(PrintJob.Failure.tooLong) { split() } catch { retry() }
    /// ```
    ///
    /// - Parameter failure: the failure, with its type.
    /// - Returns: a pattern.
    public static func refused<Failure: CommandFailure>(_ failure: Failure) -> Refusal {
        Refusal { $0.cause as? Failure == failure }
    }
}
