import RelayWire

/// What a connection reports to its user. All calls come on the loop's thread, in the order in which the bus sent.
package protocol BusHandler: AnyObject, Sendable {
    func signal(_ message: borrowing ReceivedMessage)
    func methodCall(_ call: IncomingCall)
    /// How many of the file descriptors that a call's arguments begin with are taken. All others are closed with its
    /// message: calls wait in queues, and a process has few descriptors.
    func descriptorLimit(interface: String?, member: String, signature: String) -> Int
    /// A reply has been read that is to be reported: its call asks for that, or it has file descriptors.
    ///
    /// - Parameter serial: the reply's own.
    func replyReceived(from sender: String, serial: UInt32)
    /// A reply was dropped that answers no call, or not one of its sender.
    func replyDropped(from sender: String?)
    /// The last word: every waiting call has ended before.
    func disconnected(_ reason: RelayError)
}

/// What the bus announces when a name passes from one connection to another (specification, "NameOwnerChanged").
package struct OwnerChange {
    package let name: String
    /// Nil when nobody had it before.
    package let oldOwner: String?
    /// Nil when nobody has it now.
    package let newOwner: String?

    init(of name: String, from oldOwner: String?, to newOwner: String?) {
        (self.name, self.oldOwner, self.newOwner) = (name, oldOwner, newOwner)
    }
    /// Nil for every other signal, and for one of this name that does not come from the bus itself.
    package init?(_ message: borrowing ReceivedMessage) {
        guard message.hasSender("org.freedesktop.DBus"), message.hasMember("NameOwnerChanged"),
            message.hasSignature("sss")
        else { return nil }
        let names = message.withBody { body -> [String]? in
            var reader = WireReader(body)
            return try? [reader.string(), reader.string(), reader.string()]
        }
        guard let names else { return nil }
        name = names[0]
        oldOwner = names[1].isEmpty ? nil : names[1]
        newOwner = names[2].isEmpty ? nil : names[2]
    }
}

extension BusHandler {
    package func descriptorLimit(interface: String?, member: String, signature: String) -> Int { 0 }
    package func replyReceived(from sender: String, serial: UInt32) {}
    package func replyDropped(from sender: String?) {}
}
