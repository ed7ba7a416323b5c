import Synchronization

/// How much of what a service has sent is still ahead of the slowest who gets it; all its lanes share it.
///
/// A bus that holds too much of a sender's harms it: dbus-daemon stops reading what it sends, replies included, and dbus-broker
/// ends its connection, or another one of its user. So the bus is asked.
final class BusPressure: Sendable {
    private let connection: BusConnection
    private let notices: NoticeReporter
    private let meter = Mutex(PressureMeter())
    /// How long an answer may take. It comes in the order of what was sent, which the bus may take slowly.
    private static let patience = Duration.seconds(10)

    /// Asks for the first time: who tells, and how much room there is, is known before much is sent.
    init(_ connection: BusConnection, _ notices: NoticeReporter) {
        (self.connection, self.notices) = (connection, notices)
        if let source = meter.withLock({ beginLook(&$0) }) { ask(source) }
    }

    /// Whether signals of so many bytes altogether may be sent. If not, signals have to pause until it is low.
    func admits(_ count: Int, messages: Int) -> Bool {
        let (isAdmitted, source) = meter.withLock { meter in
            let source = meter.isDue ? beginLook(&meter) : nil
            return (meter.admits(count, messages: messages, now: MonotonicClock.now), source)
        }
        if let source { ask(source) }
        return isAdmitted
    }
    /// Whether a `Head` may be sent.
    func admitsHead(_ count: Int, messages: Int) -> Bool {
        meter.withLock { $0.admitsHead(count, messages: messages) }
    }
    /// Looks whether it is high still; and tells when to look again.
    func look(_ now: UInt64) -> (isHigh: Bool, pace: Duration) {
        let (result, source, change) = meter.withLock { meter in
            let source = meter.isDue(at: now) ? beginLook(&meter) : nil
            return ((meter.isHigh, meter.pace(now)), source, meter.takeChange(now))
        }
        if let source { ask(source) }
        if let change { report(change) }
        return result
    }
    private func report(_ change: PressureMeter.Change) {
        switch change {
        case .lasts(let bytes):
            let place = meter.withLock { $0.source == .queue } ? "wait for the bus" : "are held by the bus"
            notices.report(
                .signalsPaused, .warning,
                "signals have been paused for 10 s, because \(bytes >> 20) MiB of them \(place): a subscriber does not read; "
                    + "docs/OPERATING.md says how to find it")
        case .isOver: notices.report(.signalsPaused, .info, "the bus has room again: signals go on")
        }
    }

    /// Whom to ask; nil when the look is done already.
    private func beginLook(_ meter: inout PressureMeter) -> PressureMeter.Source? {
        if meter.source == .queue {
            meter.looked(connection.outgoingBytes)
            return nil
        }
        meter.asked()
        return meter.source
    }
    private func ask(_ source: PressureMeter.Source) {
        guard let question = try? BusFigures.question(to: source, by: connection.uniqueName) else { return }
        connection.send(question, timeout: Self.patience) { [weak self] result in
            guard let self else { return }
            let next = meter.withLock { meter -> PressureMeter.Source? in
                do throws(RelayError) {
                    let figures = try BusFigures(result.get(), from: source)
                    meter.answered(figures.held, room: figures.room, now: MonotonicClock.now)
                    return nil
                } catch {
                    switch error.code {
                    case .timedOut, .unavailable, .cancelled:
                        meter.unanswered()
                        return nil
                    default:
                        meter.refused()
                        return beginLook(&meter)
                    }
                }
            }
            if let next { ask(next) }
        }
    }
}
