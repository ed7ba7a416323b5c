/// What a connection tells its owner. All calls come on the loop's thread, in the order in which the bus sent.
package protocol BusHandler: AnyObject, Sendable {
    func signal(_ message: borrowing ReceivedMessage)
    func methodCall(_ call: IncomingCall)
    /// The last word: every waiting call has ended before.
    func disconnected(_ reason: RelayError)
}
