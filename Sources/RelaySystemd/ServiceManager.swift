import CSystemd
import Glibc

/// The service manager that started this process, and that wants to know how it is: systemd.
///
/// ```swift
/// let manager = ServiceManager()
/// let journal = try await manager.extendingTimeout { try await EventJournal.open(directory: directory) }
/// let service = try EventService(name: name, exporting: Printing1.self, journal: journal)
/// try await service.run(under: manager, idleExit: .seconds(30))
/// journal.close()
/// ```
///
/// Everything here does nothing in a process that no manager started (`NOTIFY_SOCKET` is not set).
///
/// - Isolation: from any thread. Sending never waits long: it is a datagram.
public struct ServiceManager: Sendable {
    /// Whether there is one that wants to be notified.
    public let isPresent: Bool
    /// After how long without a sign of life it ends this process; nil: never.
    public let watchdogTimeout: Duration?

    /// The manager that the environment names.
    public init() {
        isPresent = getenv("NOTIFY_SOCKET") != nil
        var microseconds: UInt64 = 0
        let isWatched = isPresent && sd_watchdog_enabled(0, &microseconds) > 0
        watchdogTimeout = isWatched ? .microseconds(Int64(clamping: microseconds)) : nil
    }
    /// The service is ready, after its start or after a reload.
    ///
    /// - Parameter status: one line for `systemctl status`; nil leaves it as it is.
    public func ready(status: String? = nil) { notify("READY=1", status) }
    /// Sets the line that `systemctl status` shows.
    ///
    /// - Parameter text: one line.
    public func status(_ text: String) { notify(nil, text) }
    /// The service reads its configuration again; ``ready(status:)`` follows.
    public func reloading() {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        notify("RELOADING=1\nMONOTONIC_USEC=\(time.tv_sec * 1_000_000 + time.tv_nsec / 1_000)")
    }
    /// The service ends. From here on the manager starts another run for whoever asks, behind the end of this one.
    ///
    /// - Parameter patience: how long that may take.
    public func stopping(within patience: Duration) {
        notify("STOPPING=1\nEXTEND_TIMEOUT_USEC=\(Self.microseconds(patience))")
    }
    /// A sign of life for the watchdog.
    public func isAlive() { notify("WATCHDOG=1") }
    /// What is under way, a start or an end, takes so much longer.
    ///
    /// - Parameter time: from now.
    public func extendTimeout(by time: Duration) { notify("EXTEND_TIMEOUT_USEC=\(Self.microseconds(time))") }
    /// Does something that may take longer than the manager's timeout, such as opening a large journal: the timeout is
    /// extended as long as it takes.
    ///
    /// - Cancellation: is passed on to `body`.
    /// - Parameter body: what takes long.
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
    func beginExtending() -> Task<Void, any Error> {
        extendTimeout(by: .seconds(30))
        return Task { [self] in
            while true {
                try await Task.sleep(for: .seconds(10))
                extendTimeout(by: .seconds(30))
            }
        }
    }
    private static func microseconds(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        let (whole, isOver) = seconds.multipliedReportingOverflow(by: 1_000_000)
        return isOver ? .max : whole + attoseconds / 1_000_000_000_000
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
