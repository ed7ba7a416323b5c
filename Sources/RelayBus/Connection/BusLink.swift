import CDBus
import Synchronization
package import RelayWire

/// Passes messages between connections within the process, in place of a bus's daemon: for tests.
///
/// Messages are those of a bus, whole and in wire format, and libdbus parses them. File descriptors go beside their
/// message, duplicated.
///
/// - Order: each connection receives messages in the order in which `send` was called, from any sender.
/// - Isolation: from any thread. `send` is called under the sender's lock, and must not call a connection back.
package protocol BusLink: AnyObject, Sendable {
    /// The time of the loops that its connections have.
    var clock: ManualClock { get }
    /// A connection begins. Its `Hello` follows.
    func join(_ connection: BusConnection, as bus: LinkedBus)
    /// A connection ends.
    func leave(_ connection: BusConnection)
    func send(_ message: LinkedMessage, from connection: BusConnection)
}

/// A link, and the user and groups that its connections have.
package struct LinkedBus: Hashable, Sendable {
    package let link: any BusLink
    package let userID: UInt32
    package let groupIDs: [UInt32]

    package init(_ link: any BusLink, userID: UInt32, groupIDs: [UInt32]) {
        (self.link, self.userID, self.groupIDs) = (link, userID, groupIDs)
    }
    package static func == (a: Self, b: Self) -> Bool {
        a.link === b.link && a.userID == b.userID && a.groupIDs == b.groupIDs
    }
    package func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(link))
        hasher.combine(userID)
    }
}
extension Bus {
    package static func link(_ bus: LinkedBus) -> Self { Self(kind: .link(bus)) }
    package var linked: LinkedBus? { if case .link(let bus) = kind { bus } else { nil } }
    /// Where it is not the machine's: a test's time.
    package var clock: ManualClock? { linked?.link.clock }
}

/// A message on its way through a link.
package struct LinkedMessage: Sendable {
    package let bytes: [UInt8]
    package let kind: MessageHeader.Kind
    package let serial: UInt32
    package let replySerial: UInt32
    package let destination: String?
    package let path: String?
    package let interface: String?
    package let member: String?
    package let signature: String
    package let body: [UInt8]
    package let wantsReply: Bool
    /// In the order of their indices. The message's own: closed with it, unless its receiver takes them.
    package var descriptors: [ReceivedDescriptor] = []

    /// Throws `InvalidArgument` for what libdbus refuses.
    package init(_ bytes: UnsafeRawBufferPointer) throws(RelayError) {
        guard let message = ReceivedMessage(try MessageHandle(parsing: bytes)) else {
            throw RelayError(
                .invalidArgument, "a message of \(bytes.count) bytes is of a kind that D-Bus does not have")
        }
        (self.bytes, kind, serial, replySerial) = (Array(bytes), message.kind, message.serial, message.replySerial)
        (destination, path, interface, member) = (
            message.destination, message.path, message.interface, message.member
        )
        (signature, body, wantsReply) = (message.signature, message.body, message.wantsReply)
    }
    /// A message of the link's own. Throws `InvalidArgument` for a bad or missing field.
    package init(_ header: MessageHeader, serial: UInt32, body: [UInt8]) throws(RelayError) {
        var writer = WireWriter(capacity: body.count + 256)
        let start = try header.write(into: &writer, serial: serial)
        writer.append(body)
        try MessageHeader.finish(&writer, bodyStart: start)
        self = try writer.withUnsafeBytes { bytes in
            Result { () throws(RelayError) in try LinkedMessage(bytes) }
        }.get()
    }
}

extension BusConnection {
    /// A message has come by the link. On the loop's thread; one that comes behind the end is dropped.
    package func receive(_ message: LinkedMessage, from sender: String) {
        if inner.withLock({ $0.link == nil }) { return }
        message.bytes.withUnsafeBytes { bytes in
            // What a bus does with every message that it passes on. The text lives as long as the call.
            guard let handle = try? MessageHandle(parsing: bytes),
                dbus_message_set_sender(handle.pointer, sender) != 0, let received = ReceivedMessage(handle)
            else { return }
            dispatch(received, attached: message.descriptors)
        }
    }
    /// The link has ended.
    package func linkEnded(_ reason: RelayError) {
        let wasIn = !uniqueName.isEmpty
        if end(reason), wasIn { loop.execute { [handler] in handler?.disconnected(reason) } }
    }
}

/// Serves a connection, and knows whether something is still under way: for a test that waits until nothing is.
package protocol SettlingHandler: BusHandler {
    /// What is not done yet, for a person; nil: everything that has come is done. In a turn of the loop.
    var unsettled: String? { get }
}
extension BusConnection {
    /// It waits for an answer.
    package var isCalling: Bool { pending.withLock { $0.count > 0 } }
    /// What it waits for, or what its handler has not done yet. Not in a turn of the loop.
    package var unsettled: String? {
        if let call = pending.withLock({ $0.someTitle }) { return "\(call) waits for its answer" }
        loop.beginTurn()
        defer { loop.endTurn() }
        return (handler as? any SettlingHandler)?.unsettled
    }
}
