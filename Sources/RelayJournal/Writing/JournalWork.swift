import RelayCore

/// What the writer is asked for.
///
/// Its continuations are unsafe ones: `submit` finishes each work once. The checked ones' layout is known at run time
/// only, which made each copy of a work several calls into the runtime.
enum JournalWork: Sendable {
    /// An event that was encoded before.
    case event(EncodedEvent, UnsafeContinuation<Void, any Error>)
    /// Several, for one transaction.
    case events([EncodedEvent], UnsafeContinuation<Void, any Error>)
    /// A closure over state and events.
    case unit(any UnitBody)
    /// Something for the writer's thread, between two transactions.
    case call(@Sendable (JournalEngine) -> Void)
}

/// A unit of work, without its result's type.
protocol UnitBody: AnyObject, Sendable {
    /// Whether a thread of the cooperative pool may run it.
    var isSmall: Bool { get }
    /// Runs the closure, once, with the engine. Throws what it throws.
    func run(in unit: inout UnitOfWork) throws
    /// Publishes what reports the closure's error, after the unit was undone. Throws why that cannot be.
    func report(_ failure: any Error, in events: inout RefusalEvents) throws
    /// Lets the caller go on, with the closure's result, or with why it counts for nothing.
    func finish(_ failure: (any Error)?)
}

extension UnitBody {
    var isSmall: Bool { true }
    func report(_ failure: any Error, in events: inout RefusalEvents) {}
}

/// A result that a task waits for, and that another thread makes.
class AwaitedWork<Result>: @unchecked Sendable {  // Handed over and back, never shared.
    var result: Result?
    /// Set before it is handed over.
    var continuation: UnsafeContinuation<Result, any Error>?

    /// Lets the caller go on, with the result, or with why it counts for nothing.
    func finish(_ failure: (any Error)?) {
        // Its one way out: nothing of it stays here. (The compiler cannot see that of a stored value.)
        nonisolated(unsafe) let result = result
        self.result = nil
        if let failure {
            continuation?.resume(throwing: failure)
        } else if let result {
            continuation?.resume(returning: result)
        } else {
            continuation?.resume(
                throwing: RelayError(.internalFailure, "a unit of work ended without a result", mayHaveRun: true))
        }
    }
}

final class UnitWork<Result>: AwaitedWork<Result>, UnitBody, @unchecked Sendable {
    private var body: ((inout UnitOfWork) throws -> sending Result)?
    private var reporting: ((any Error, inout RefusalEvents) throws -> Void)?

    init(
        _ body: sending @escaping (inout UnitOfWork) throws -> sending Result,
        _ reporting: sending @escaping (any Error, inout RefusalEvents) throws -> Void
    ) {
        (self.body, self.reporting) = (body, reporting)
    }

    func run(in unit: inout UnitOfWork) throws {
        guard let body else { return }
        // What it captured is released here, before the caller goes on.
        self.body = nil
        result = try body(&unit)
    }
    func report(_ failure: any Error, in events: inout RefusalEvents) throws { try reporting?(failure, &events) }
    override func finish(_ failure: (any Error)?) {
        // As what the other one captured.
        reporting = nil
        super.finish(failure)
    }
}
