public import RelayCore

extension EventService {
    /// Serves until the task is cancelled or the service is idle, and notifies the service manager.
    ///
    /// - The manager is notified when the service is ready, and before the name is released at the end.
    /// - The thread of the service's loop feeds the watchdog. That thread never waits for a disk, so the watchdog ends
    ///   a service that hangs, but not a service with a slow disk. A commit that takes more than five seconds appears
    ///   in the manager's status and as a notice (`.commitDelayed`). So does a disk that refuses commits
    ///   (`.storageFull`), for as long as it does.
    /// - SIGHUP, which otherwise asks a ``RelayCore/RelayProgram`` to end, reloads: the manager is notified, and
    ///   `onReload` is called. A SIGHUP that arrives while the service starts takes effect when the service is ready.
    ///   Once the service is ending, SIGHUP has no effect, and a reload that is under way is cancelled and waited for, as
    ///   `work` is.
    ///
    /// Without a manager, it works like ``RelayCore/EventService/run(following:keeping:patience:idleExit:onReady:alongside:onStopping:)``, which
    /// describes everything else.
    ///
    /// - Cancellation: as there.
    /// - Parameter manager: the service manager.
    /// - Parameter relays: run beside the service.
    /// - Parameter kept: as there.
    /// - Parameter patience: as there.
    /// - Parameter idleExit: as there.
    /// - Parameter onReady: is called when the service owns the name.
    /// - Parameter work: runs beside the service.
    /// - Parameter onStopping: as there; is called after the manager was notified.
    /// - Parameter onReload: reads the configuration again. If it throws, the manager's status shows the error.
    /// - Throws: as there.
    public func run(
        under manager: ServiceManager, following relays: EventRelay..., keeping kept: Subscription...,
        patience: Duration = .seconds(10), idleExit: Duration? = nil, onReady: @Sendable () -> Void = {},
        alongside work: (@Sendable () async throws -> Void)? = nil, onStopping: @Sendable () async -> Void = {},
        onReload: @escaping @Sendable () async throws -> Void = {}
    ) async throws {
        defer { withExtendedLifetime(kept) {} }
        var works = WorkBeside.all(relays, work)
        guard manager.isPresent else {
            return try await run(
                alongside: works, patience: patience, idleExit: idleExit, onReady: onReady, onStopping: onStopping)
        }
        let starting = manager.beginExtending()
        defer { starting.cancel() }
        let line = StatusLine("serving \(name)")
        var beats: Heartbeat?
        if let timeout = manager.watchdogTimeout {
            // Three signs in the time, so that one may be late.
            beats = heartbeat(every: max(timeout / 3, .milliseconds(1))) { delay in
                manager.feedWatchdog()
                line.set(
                    .delay, delay.map { "one commit has waited for the disk for \($0.components.seconds) s" }
                ) { manager.status($0) }
            }
        }
        onStorageTrouble { reason in line.set(.storage, reason) { manager.status($0) } }
        let reloads = try HangUps.begin()
        // Beside the service, as all work: the end of a reload reports that the service is ready, so that a request that
        // comes before waits until it is, and one that is under way at the end is waited for.
        works.append(
            WorkBeside {
                for await _ in reloads {
                    guard line.beginReload({ manager.reloading() }) else { return }
                    var failure: String?
                    do { try await onReload() } catch {
                        failure = "the reload failed: \((error as? RelayError)?.message ?? "\(error)")"
                    }
                    line.endReload(failure) { manager.ready(status: $0) }
                }
            })
        do {
            try await run(alongside: works, patience: patience, idleExit: idleExit) {
                starting.cancel()
                line.begin { manager.ready(status: $0) }
                onReady()
            } onEnding: {
                line.end { manager.ready() }
                // Work beside the service has its patience, then commands have theirs; the bus has its time, and the
                // journal is closed.
                manager.stopping(within: patience * 2 + .seconds(75))
            } onStopping: {
                await onStopping()
            }
        } catch {
            line.end { manager.ready() }
            manager.status((error as? RelayError)?.message ?? "\(error)")
            throw error
        }
        withExtendedLifetime(beats) {}
    }
}
