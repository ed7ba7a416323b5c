extension EventRelay {
    /// Follows the service until the task is cancelled, then ends the relay. It activates the relay if that has not been
    /// done.
    ///
    /// ```swift
    /// @main struct Ledger: RelayProgram {
    ///     static func run() async throws {
    ///         let relay = try EventRelay(following: "org.example.Printer", interfaces: Printing1.self)
    ///         let ledger = try relay.subscribe(to: JobPrinted.self, from: .resuming("ledger")) { print($0) } onGap: { print($0) }
    ///         try await relay.run(keeping: ledger)
    ///     }
    /// }
    /// ```
    ///
    /// In a ``RelayProgram``, SIGTERM and Ctrl-C cancel the task, and what this throws is the program's exit code.
    ///
    /// - Cancellation: handlers that wait may return within ten seconds, and the position passes their events; after
    ///   that they are cancelled. When this returns, positions are written, and no handler runs but one that has ignored
    ///   its cancellation for a second.
    /// - Throws: the error of ``State/invalidated(_:)``, since no retry would help. The error of a handler that has ended
    ///   its subscription.
    /// - Parameter kept: subscriptions, none of which is released before this returns.
    public func run(keeping kept: Subscription...) async throws {
        defer { withExtendedLifetime(kept) {} }
        try await run()
    }
    /// Follows the service as ``run(keeping:)`` does: the `run()` that swift-service-lifecycle's `Service` protocol
    /// requires.
    ///
    /// - Cancellation: as there.
    /// - Throws: as there.
    public func run() async throws {
        activate()
        let (states, errors) = (states, failures.errors())
        let result: Result<Void, any Error> = await withTaskGroup(of: Result<Void, any Error>.self) { group in
            group.addTask {
                for await state in states { if case .invalidated(let error) = state { return .failure(error) } }
                return .success(())
            }
            group.addTask {
                for await error in errors { return .failure(error) }
                return .success(())
            }
            let first = await group.next() ?? .success(())
            group.cancelAll()
            return first
        }
        await handlers.finish(patience: timing.handlerPatience)
        invalidate()
        await notices.finish()
        try result.get()
    }
}
