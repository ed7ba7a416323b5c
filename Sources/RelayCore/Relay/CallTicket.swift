/// A call on its way to the bus: what cancelling it needs.
final class CallTicket: @unchecked Sendable {  // Touched on the loop's thread only.
    var serial: UInt32?
    /// Where it was sent: another one has other serials.
    weak var connection: BusConnection?
    var isCancelled = false
}
