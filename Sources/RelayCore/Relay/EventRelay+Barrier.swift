extension EventRelay {
    /// Waits until everything that the service published before this call has been delivered.
    ///
    /// ```swift
    /// try await relay.barrier()
    /// // Whatever the service had published is here: as events, or as a gap.
    /// ```
    ///
    /// *Delivered* means that an `.immediate` handler has returned. Any other subscription, also a positioned one, has
    /// the event in its buffer, before everything that is published after this returns. Events that can no longer be
    /// read are a gap there. Only interfaces with subscriptions count: without one, this returns at once.
    ///
    /// - Order: an event counts if its `publish` had returned before this was called. Rings are drained first, and
    ///   events that a pause of signals held back are read from the journal, or reported as a gap. Replays in progress
    ///   are waited for.
    /// - Isolation: from any task, but not from one that an `.immediate` handler waits for. The consumer of a replay
    ///   sets its pace, so do not wait on the consumer's own actor.
    /// - Loss: as with any subscription: what a volatile interface lost is a gap.
    /// - Cancellation: throws `.cancelled`.
    /// - Parameter timeout: how long to wait.
    /// - Throws: `.unavailable` without a service, or if it goes away meanwhile: then the last events may be missing.
    ///   `.timedOut`, `.cancelled`, `.notPermitted`; `.notFound` from a service that is too old for barriers.
    public func barrier(timeout: Duration = .seconds(25)) async throws {
        try await follower.core.barrier(nil, timeout: timeout)
    }
    /// Waits until everything that the service published on one interface before this call has been delivered. Events
    /// of other interfaces may still be on their way.
    ///
    /// - Parameter interface: the interface.
    /// - Parameter timeout: how long to wait.
    /// - Throws: as ``barrier(timeout:)``; `.notFound` also for an interface that the relay was not made for.
    public func barrier<I: EventInterface>(for interface: I.Type, timeout: Duration = .seconds(25)) async throws {
        try check(interface, "the barrier")
        try await follower.core.barrier(I.name, timeout: timeout)
    }
}
