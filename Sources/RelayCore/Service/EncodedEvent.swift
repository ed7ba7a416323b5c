/// An event before it has its place.
package enum EncodedEvent: Sendable {
    /// The interface's and the event's place in what `EventLogStorage.open` was given, and the body, without its stamp.
    case durable(interface: Int, event: Int, body: EventBody)
    /// To be called after the commit, on the committing thread: gives it its place, and sends it.
    case volatile(@Sendable () -> Void)
}
