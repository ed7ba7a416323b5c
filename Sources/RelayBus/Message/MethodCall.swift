package import RelayWire

/// A method call to send.
package struct MethodCall: Sendable {
    package var destination: String
    package var path: String
    package var interface: String
    package var member: String
    package var signature: Signature
    package var body: [UInt8]
    package var flags: MessageHeader.Flags
    /// By the indices that the body has for them; without a body they are the only arguments.
    package var descriptors: [ReceivedDescriptor] = []
    /// The answer may have file descriptors anywhere.
    package var takesDescriptors = false
    /// The peer that answers counts its answer until it is reported as read, be it an error.
    package var isConfirmed = false

    package init(
        to destination: String, path: String, interface: String, member: String, signature: Signature = .empty,
        body: [UInt8] = [], flags: MessageHeader.Flags = []
    ) {
        (self.destination, self.path, self.interface, self.member) = (destination, path, interface, member)
        (self.signature, self.body, self.flags) = (signature, body, flags)
    }
    /// For messages to people.
    package var title: String { Self.title(interface, member, at: destination) }
    static func title(_ interface: String, _ member: String, at destination: String) -> String {
        "\(interface).\(member) at \(destination)"
    }

    /// A call of the bus itself.
    package static func toBus(_ member: String, _ signature: Signature = .empty, body: [UInt8] = []) -> Self {
        Self(
            to: "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus",
            member: member,
            signature: signature, body: body)
    }
    /// Asks the bus to start a service. Throws `.invalidArgument` for what is no text of D-Bus.
    package static func start(of name: String) throws(RelayError) -> Self {
        var body = WireWriter()
        try body.string(name)
        body.uint32(0)
        return .toBus("StartServiceByName", try Signature("su"), body: body.bytes)
    }
}

/// The answer to a method call.
package struct BusReply: Sendable {
    /// The unique name that answered.
    package let sender: String
    package let signature: String
    package let body: [UInt8]
    /// The file descriptors that the answer begins with, none beyond the second; or the one of a peer's process, in the
    /// bus's answer about its credentials.
    package let descriptors: [ReceivedDescriptor]
    /// All file descriptors in the answer, by their indices, where the call takes them.
    package let transferred: [UInt32: ReceivedDescriptor]

    package init(
        sender: String, signature: String, body: [UInt8], descriptors: [ReceivedDescriptor] = [],
        transferred: [UInt32: ReceivedDescriptor] = [:]
    ) {
        (self.sender, self.signature) = (sender, signature)
        (self.body, self.descriptors, self.transferred) = (body, descriptors, transferred)
    }

    /// Reads the answer's values in order. Throws `SchemaMismatch` when it has another signature than `expected`.
    package func read<Result>(_ expected: String, _ body: (inout WireReader) throws -> Result) throws(RelayError)
        -> Result
    {
        if signature != expected {
            throw RelayError(
                .schemaMismatch, "\(sender) answered with signature '\(signature)' instead of '\(expected)'")
        }
        do {
            return try self.body.withUnsafeBytes { bytes in
                var reader = WireReader(bytes)
                return try body(&reader)
            }
        } catch {
            throw RelayError(.schemaMismatch, "\(sender) sent an answer that cannot be read: \(error)", cause: error)
        }
    }
    /// The answer's values, of whatever types.
    package func values() throws(RelayError) -> [DBusValue] {
        let signature = try Signature(signature)
        return try body.withUnsafeBytes { body in
            Result { () throws(RelayError) in try DBusValue.decode(signature: signature, body: body) }
        }.get()
    }
}

/// A method call that came in, copied out of its message once: what keeps it shares it.
package final class IncomingCall: Sendable {
    /// By which it came, and is answered.
    package let connection: BusConnection
    package let sender: String
    package let serial: UInt32
    package let path: String
    package let interface: String?
    package let member: String
    package let signature: String
    package let body: [UInt8]
    package let wantsReply: Bool
    /// Whether the caller is prepared to wait until a person has authorised the call.
    package let allowsInteraction: Bool
    /// The file descriptors that the arguments begin with; none beyond the handler's `descriptorLimit`.
    package let descriptors: [ReceivedDescriptor]
    /// All file descriptors among the arguments, by their indices, where `descriptorLimit` admits more than one.
    package let transferred: [UInt32: ReceivedDescriptor]

    package init(
        _ connection: BusConnection, sender: String, serial: UInt32, path: String, interface: String?, member: String,
        signature: String, body: [UInt8], wantsReply: Bool, allowsInteraction: Bool = false,
        descriptors: [ReceivedDescriptor] = [], transferred: [UInt32: ReceivedDescriptor] = [:]
    ) {
        (self.connection, self.sender, self.serial) = (connection, sender, serial)
        (self.path, self.interface, self.member) = (path, interface, member)
        (self.signature, self.body, self.wantsReply) = (signature, body, wantsReply)
        self.allowsInteraction = allowsInteraction
        (self.descriptors, self.transferred) = (descriptors, transferred)
    }
}
