extension EventRelay {
    /// Waits until everything that the service published before this call has been delivered.
    ///
    /// ```swift
    /// try await relay.barrier()
    /// // Whatever the service had published is here: as events, or as a gap.
    /// ```
    ///
    /// *Delivered* means that `.immediate` handlers have returned. All other subscriptions, also positioned ones, have
    /// the events in their buffers, ahead of everything that is published after this returns. A gap stands in place of
    /// events that can no longer be read. Only interfaces with subscriptions count: if there are none, this returns at
    /// once.
    ///
    /// - Order: an event counts if its `publish` had returned before this was called. The barrier drains the rings
    ///   first. Events that were not sent because signals paused are read from the journal, or reported as a gap. The
    ///   barrier also waits for replays in progress.
    /// - Isolation: from any task, but not from one that an `.immediate` handler waits for. A replay is as fast as its
    ///   consumer, so do not wait on the consumer's own actor.
    /// - Loss: as with any subscription: events that a volatile interface lost are a gap.
    /// - Cancellation: throws `.cancelled`.
    /// - Parameter interface: waits for the events of this interface alone; nil: of all.
    /// - Parameter timeout: how long to wait.
    /// - Throws: `.notFound` for an interface that the relay was not made for. `.unavailable` if there is no service, or if it goes away meanwhile, in which case the last events may
    ///   be missing. `.timedOut`, `.cancelled`, `.notPermitted`; `.notFound` from a service that is too old for
    ///   barriers.
    public func barrier(
        for interface: (any EventInterface.Type)? = nil, timeout: Duration = .seconds(25)
    ) async throws {
        if let interface { try check(interface, "the barrier") }
        try await follower.core.calls.barriers.wait(interface?.name, timeout: timeout)
    }
}
