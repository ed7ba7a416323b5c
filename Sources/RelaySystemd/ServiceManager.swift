import RelayCore
import CSystemd
import Glibc

/// The service manager that started this process and wants notifications: systemd.
///
/// ```swift
/// let manager = ServiceManager()
/// let journal = try await manager.extendingTimeout { try await EventJournal.open(directory: directory) }
/// let service = try EventService(name: name, exporting: Printing1.self, journal: journal)
/// try await service.run(under: manager, idleExit: .seconds(30))
/// journal.close()
/// ```
///
/// In a process that no manager started (`NOTIFY_SOCKET` is not set), nothing is sent.
///
/// - Isolation: from any thread. Each notification is one datagram.
public struct ServiceManager: Sendable {
    /// Whether there is a manager that wants notifications.
    public let isPresent: Bool
    /// The time without a sign of life after which the manager ends this process; nil if there is no watchdog.
    public let watchdogTimeout: Duration?

    /// The manager that the environment names.
    public init() {
        isPresent = getenv("NOTIFY_SOCKET") != nil
        var microseconds: UInt64 = 0
        let isWatched = isPresent && sd_watchdog_enabled(0, &microseconds) > 0
        watchdogTimeout = isWatched ? .microseconds(Int64(clamping: microseconds)) : nil
    }
    /// Notifies the manager that the service is ready, after its start or after a reload.
    ///
    /// - Parameter status: one line for `systemctl status`; nil leaves the line unchanged.
    public func ready(status: String? = nil) { notify("READY=1", status) }
    /// Sets the line that `systemctl status` shows.
    ///
    /// - Parameter text: one line.
    public func status(_ text: String) { notify(nil, text) }
    /// Notifies the manager that the service is reading its configuration again. Call ``ready(status:)`` afterwards.
    public func reloading() {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        notify("RELOADING=1\nMONOTONIC_USEC=\(time.tv_sec * 1_000_000 + time.tv_nsec / 1_000)")
    }
    /// Notifies the manager that the service is ending. If the service is requested again from now on, the manager
    /// starts another run after the end of this one.
    ///
    /// - Parameter patience: how long the end may take.
    public func stopping(within patience: Duration) {
        notify("STOPPING=1\nEXTEND_TIMEOUT_USEC=\(Self.microseconds(patience))")
    }
    /// Sends a sign of life to the watchdog.
    public func feedWatchdog() { notify("WATCHDOG=1") }
    /// Extends the manager's timeout for a start, a reload or an end.
    ///
    /// - Parameter time: the new timeout, from now on.
    public func extendTimeout(by time: Duration) { notify("EXTEND_TIMEOUT_USEC=\(Self.microseconds(time))") }
    /// Runs code that may take longer than the manager's timeout, for example to open a large journal. The timeout is
    /// extended until the code has returned.
    ///
    /// - Cancellation: a cancellation is passed on to `body`.
    /// - Parameter body: the code that may take long.
    /// - Returns: what `body` returns.
    /// - Throws: what `body` throws.
    public nonisolated(nonsending) func extendingTimeout<Result, Failure: Error>(
        while body: () async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        guard isPresent else { return try await body() }
        let extending = beginExtending()
        defer { extending.cancel() }
        return try await body()
    }

    /// Extends the timeout until the task is cancelled.
    func beginExtending() -> Task<Void, Never> {
        extendTimeout(by: .seconds(30))
        // Its caller may block where it is.
        return Task.detached(executorPreference: HandlerThreads.own) { [self] in
            while !Task.isCancelled {
                await OwnTimer.sleep(for: .seconds(10))
                if !Task.isCancelled { extendTimeout(by: .seconds(30)) }
            }
        }
    }
    /// At most as many as a manager can read.
    static func microseconds(_ duration: Duration) -> Int64 {
        // A sum may have more seconds than `components` can return.
        if duration > .microseconds(Int64.max) { return .max }
        let (seconds, attoseconds) = duration.components
        let (whole, isOver) = seconds.multipliedReportingOverflow(by: 1_000_000)
        let (sum, isMore) = whole.addingReportingOverflow(attoseconds / 1_000_000_000_000)
        return isOver || isMore ? .max : sum
    }
    private func notify(_ state: String?, _ status: String? = nil) {
        guard isPresent else { return }
        // A line's end would begin another assignment.
        let line = status.map { "STATUS=" + $0.split(whereSeparator: \.isNewline).joined(separator: " ") }
        let text = [state, line].compactMap(\.self).joined(separator: "\n")
        // A manager that has gone cannot be notified, and nothing depends on it.
        _ = sd_notify(0, text)
    }
}
