/// An event before it has its place.
package enum EncodedEvent: Sendable {
    /// The interface's and the event's place in what `EventLogStorage.open` was given, and the fields' bytes, as a body
    /// begins: what the stamp is yet to follow.
    case durable(interface: Int, event: Int, fields: [UInt8])
    /// To be called after the commit, on the committing thread: gives it its place, and sends it.
    case volatile(@Sendable () -> Void)
}
