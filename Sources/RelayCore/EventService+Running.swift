/// A service with what runs beside it: the one place that knows services and relays.
extension EventService {
    /// Serves until the task is cancelled, or until the service has been unused for a time that you choose. You also
    /// choose how long running commands may take to finish.
    ///
    /// With `idleExit`, this also returns when there was no attached peer, no open ring, no call, no unit of work and
    /// no ``ActivityToken`` for that time. `.zero` ends the service right after the last call. A new service waits ten
    /// seconds for its first use. No call is lost at the end: the service first releases the name, then answers every
    /// call that the bus had already routed to it. For later calls the bus starts the service again, if there is a
    /// service file.
    ///
    /// ```swift
    /// try await service.run(idleExit: .seconds(30))
    /// journal.close()
    /// ```
    ///
    /// Work of the service's own runs beside it, from the moment at which it owns the name:
    ///
    /// ```swift
    /// try await service.run(alongside: { try await publishSamples(service) })
    /// ```
    ///
    /// When the end was decided, that work is cancelled first, and waited for: its last events still precede `End`. Work
    /// that ignores its cancellation is left behind after the patience. If it throws, the service ends, and this throws
    /// the error. A service that follows others names the relays: they run beside it in the same way, and the error of one
    /// ends it.
    ///
    /// ```swift
    /// let orders = try EventRelay(following: "org.example.Shop", interfaces: Orders1.self)
    /// let log = try orders.subscribe(to: Orders1.self) { print($0) } onGap: { print($0) }
    /// try await service.run(following: orders, keeping: log)
    /// ```
    ///
    /// - Parameter relays: run beside the service, as ``EventRelay/run(keeping:)`` does. A handler of theirs that wants the service
    ///   to end throws: it must not wait for ``stop(patience:)``.
    /// - Parameter kept: subscriptions, none of which is released before this returns.
    /// - Parameter patience: how long commands may run after the end was decided. After that, waiting commands are
    ///   refused with `.unavailable`, and running handlers are cancelled (`Task.isCancelled`). After one more second
    ///   the service ends without them: they can neither reply nor publish, and their callers get `.unavailable` from
    ///   the bus. Calls that arrive meanwhile wait until the name is released. Calls of durable interfaces then run.
    ///   Calls of volatile interfaces are refused with `.unavailable`, because `End` has been announced.
    /// - Parameter idleExit: how long the service is unused before it ends; nil means that it does not end when it is
    ///   unused.
    /// - Parameter onReady: is called when the service owns the name.
    /// - Parameter work: runs beside the service. If it returns, the service goes on.
    /// - Parameter onStopping: is called when the end was decided, and the work and the relays have ended. The service
    ///   serves until this returns, and only then begins to end. Notify a service manager there, so that it starts the
    ///   next run for later calls. The patience begins when it has returned.
    /// - Throws: what ``start()`` throws, except `.cancelled`. `.unavailable` if the bus goes away. If the journal has
    ///   failed for good, its reason (`.outcomeUnknown` if a commit's outcome is unknown), after the pending replies
    ///   were sent. What the work or a relay throws.
    public func run(
        following relays: EventRelay..., keeping kept: Subscription..., patience: Duration = .seconds(10),
        idleExit: Duration? = nil, onReady: @Sendable () -> Void = {},
        alongside work: (@Sendable () async throws -> Void)? = nil,
        onStopping: @Sendable () async -> Void = {}
    ) async throws {
        defer { withExtendedLifetime(kept) {} }
        try await run(
            alongside: WorkBeside.all(relays, work), patience: patience, idleExit: idleExit, onReady: onReady,
            onStopping: onStopping)
    }
}

extension WorkBeside {
    /// What a service is asked to run beside it.
    package static func all(_ relays: [EventRelay], _ work: (@Sendable () async throws -> Void)?) -> [WorkBeside] {
        relays.map { relay in WorkBeside(isBounded: true) { try await relay.run() } }
            + [work].compactMap { $0.map { WorkBeside($0) } }
    }
}
