/// A call on its way to the bus: what cancelling it needs.
final class CallTicket: @unchecked Sendable {  // Touched on the loop's thread only.
    var serial: UInt32?
    var isCancelled = false
}
