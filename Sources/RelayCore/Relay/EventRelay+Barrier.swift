extension EventRelay {
    /// Waits until everything that the service published before this call has been delivered.
    ///
    /// ```swift
    /// try await relay.barrier()
    /// // Whatever the service had published is here: as events, or as a gap.
    /// ```
    ///
    /// Delivered means: an `.immediate` handler has returned; any other subscription, positioned ones included, has the
    /// event in its buffer, in its place, before whatever is published after this returns. What cannot be had any more
    /// is a gap there. It concerns the interfaces that have subscriptions; without one it returns at once.
    ///
    /// - Order: an event counts if its `publish` had returned before this was called. Rings are read, and what a pause
    ///   of signals held back is read from the journal, or reported as a gap, first. A replay in progress is waited
    ///   for: as its consumer sets the pace, not on the consumer's own actor.
    /// - Isolation: from any task, but not from an `.immediate` handler's.
    /// - Loss: of a volatile interface, as ever.
    /// - Cancellation: throws `.cancelled`.
    /// - Parameter timeout: how long to wait.
    /// - Throws: `.unavailable` without a service, or if it goes away meanwhile: then the last events may be missing.
    ///   `.timedOut`, `.cancelled`, `.notPermitted`; `.notFound` from a service made before there were barriers.
    public func barrier(timeout: Duration = .seconds(25)) async throws {
        try await follower.core.barrier(nil, timeout: timeout)
    }
    /// Waits until the subscribers have had what was published of one interface: other events may still be on their
    /// way.
    ///
    /// - Parameter interface: the interface.
    /// - Parameter timeout: how long to wait.
    /// - Throws: as ``barrier(timeout:)``; `.notFound` also for an interface that the relay was not made for.
    public func barrier<I: EventInterface>(for interface: I.Type, timeout: Duration = .seconds(25)) async throws {
        try check(interface, "the barrier")
        try await follower.core.barrier(I.name, timeout: timeout)
    }
}
