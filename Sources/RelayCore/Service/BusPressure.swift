import Synchronization

/// How much of what a service has sent is still ahead of the slowest who gets it; all its lanes share it.
final class BusPressure: Sendable {
    private let connection: BusConnection
    private let meter = Mutex(PressureMeter())

    init(_ connection: BusConnection) { self.connection = connection }

    /// Whether signals of so many bytes may be sent. If not, too much is ahead until it is little.
    func admits(_ count: Int) -> Bool {
        meter.withLock { meter in
            if meter.mustLook(count) { meter.seen(outgoing: connection.outgoingBytes) }
            return meter.admits(count)
        }
    }
    /// Whether too much is ahead. Looks.
    var isHigh: Bool {
        meter.withLock { meter in
            meter.seen(outgoing: connection.outgoingBytes)
            return meter.isHigh
        }
    }
}
