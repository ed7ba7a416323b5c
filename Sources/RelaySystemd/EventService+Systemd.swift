public import RelayCore

extension EventService {
    /// Serves until the task is cancelled or the service is idle, and notifies the service manager.
    ///
    /// - The manager is notified when the service is ready, and before the name is released at the end.
    /// - The thread of the service's loop feeds the watchdog. That thread never waits for a disk, so the watchdog ends
    ///   a service that hangs, but not a service with a slow disk. A commit that takes more than five seconds appears
    ///   in the manager's status and as a notice (`.commitDelayed`).
    /// - SIGHUP, which otherwise asks a ``RelayCore/RelayProgram`` to end, reloads: the manager is notified, and
    ///   `onReload` is called. A SIGHUP that arrives while the service starts takes effect when the service is ready.
    ///   Once the service is ending, SIGHUP has no effect.
    ///
    /// Without a manager, it works like ``RelayCore/EventService/run(patience:idleExit:onReady:onStopping:)``, which
    /// describes everything else.
    ///
    /// - Cancellation: as there.
    /// - Parameter manager: the service manager.
    /// - Parameter patience: as there.
    /// - Parameter idleExit: as there.
    /// - Parameter onReady: is called when the service owns the name.
    /// - Parameter onReload: reads the configuration again. If it throws, the manager's status shows the error.
    /// - Throws: as there.
    public func run(
        under manager: ServiceManager, patience: Duration = .seconds(10), idleExit: Duration? = nil,
        onReady: @Sendable () -> Void = {}, onReload: @escaping @Sendable () async throws -> Void = {}
    ) async throws {
        guard manager.isPresent else {
            return try await run(patience: patience, idleExit: idleExit, onReady: onReady)
        }
        let starting = manager.beginExtending()
        defer { starting.cancel() }
        let status = "serving \(name)"
        var beats: Heartbeat?
        if let timeout = manager.watchdogTimeout {
            let last = StatusLine(status)
            // Three signs in the time, so that one may be late.
            beats = heartbeat(every: max(timeout / 3, .milliseconds(1))) { delay in
                manager.feedWatchdog()
                let line = delay.map { "\(status); one commit has waited for the disk for \($0.components.seconds) s" }
                if let changed = last.change(to: line ?? status) { manager.status(changed) }
            }
        }
        let reloads = try HangUps.begin()
        let (start, started) = AsyncStream.makeStream(of: Void.self)
        let reloading = Task {
            // The end of a reload says that the service is ready: a request that comes before waits until it is.
            for await _ in start {}
            for await _ in reloads {
                manager.reloading()
                do {
                    try await onReload()
                    if Task.isCancelled { return }
                    manager.ready(status: status)
                } catch {
                    if Task.isCancelled { return }
                    manager.ready(
                        status: "\(status); the reload failed: \((error as? RelayError)?.message ?? "\(error)")")
                }
            }
        }
        defer { reloading.cancel() }
        do {
            try await run(patience: patience, idleExit: idleExit) {
                starting.cancel()
                manager.ready(status: status)
                started.finish()
                onReady()
            } onStopping: {
                reloading.cancel()
                // Besides the patience, the bus has its time, and the journal is closed.
                manager.stopping(within: patience + .seconds(60))
            }
        } catch {
            manager.status((error as? RelayError)?.message ?? "\(error)")
            throw error
        }
        withExtendedLifetime(beats) {}
    }
}
