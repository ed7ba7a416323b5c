/// The header of a D-Bus message, checked so that libdbus accepts its bytes.
///
/// `write` it into an empty writer, write the body straight behind it, then `finish`.
package struct MessageHeader: Sendable, Hashable {
    package enum Kind: UInt8, Sendable { case methodCall = 1, methodReturn, error, signal }

    package struct Flags: OptionSet, Sendable, Hashable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }
        package static let noReplyExpected = Self(rawValue: 1)
        package static let noAutoStart = Self(rawValue: 2)
        package static let allowInteractiveAuthorization = Self(rawValue: 4)
    }

    package var kind: Kind
    package var flags: Flags = []
    package var path: String?
    package var interface: String?
    package var member: String?
    package var errorName: String?
    package var replySerial: UInt32?
    package var destination: String?
    /// The body's.
    package var signature: Signature = .empty
    /// How many file descriptors travel with the message.
    package var unixFDs: UInt32 = 0

    package init(_ kind: Kind) { self.kind = kind }

    package static func methodCall(
        path: String, interface: String?, member: String, destination: String?, signature: Signature = .empty,
        flags: Flags = []
    ) -> Self {
        var header = Self(.methodCall)
        (header.path, header.interface, header.member) = (path, interface, member)
        (header.destination, header.signature, header.flags) = (destination, signature, flags)
        return header
    }
    package static func signal(
        path: String, interface: String, member: String, destination: String? = nil, signature: Signature = .empty
    ) -> Self {
        var header = Self(.signal)
        (header.path, header.interface, header.member) = (path, interface, member)
        (header.destination, header.signature, header.flags) = (destination, signature, .noReplyExpected)
        return header
    }
    package static func methodReturn(to serial: UInt32, destination: String?, signature: Signature = .empty) -> Self {
        var header = Self(.methodReturn)
        (header.replySerial, header.destination, header.signature) = (serial, destination, signature)
        header.flags = .noReplyExpected
        return header
    }
    package static func error(
        _ name: String, to serial: UInt32, destination: String?, signature: Signature = .empty
    ) -> Self {
        var header = Self(.error)
        (header.errorName, header.replySerial, header.destination) = (name, serial, destination)
        (header.signature, header.flags) = (signature, .noReplyExpected)
        return header
    }

    /// Where the body length and the serial stand.
    static let bodyLengthOffset = 4
    package static let serialOffset = 8

    /// Writes the header and its padding; returns where the body starts, which `finish` wants.
    ///
    /// The serial must not be 0. Throws `.invalidArgument` for a bad or missing field; the writer is then as before.
    package func write(into writer: inout WireWriter, serial: UInt32) throws(RelayError) -> Int {
        try check(serial: serial)
        guard writer.count == 0 else {
            throw RelayError(.invalidArgument, "a message header belongs at the start of an empty writer")
        }
        writer.byte(UInt8(ascii: "l"))
        writer.byte(kind.rawValue)
        writer.byte(flags.rawValue)
        writer.byte(1)  // The protocol's version.
        writer.uint32(0)  // The body's length: see `finish`.
        writer.uint32(serial)
        do throws(RelayError) { try writeFields(into: &writer) } catch {
            writer.removeAll()
            throw error
        }
        return writer.count
    }
    /// Fills the body's length in. Throws `.tooLarge` when the whole message is over `limit` bytes.
    package static func finish(
        _ writer: inout WireWriter, bodyStart: Int, limit: Int = WireLimits.defaultMessageLength
    ) throws(RelayError) {
        let limit = min(limit, WireLimits.messageLength)
        if writer.count > limit {
            throw RelayError(
                .tooLarge, "a message of \(writer.count) bytes, over the limit of \(limit): send less, or in parts")
        }
        writer.patch(UInt32(truncatingIfNeeded: writer.count - bodyStart), at: bodyLengthOffset)
    }

    private func writeFields(into writer: inout WireWriter) throws(RelayError) {
        let fields = writer.beginArray(elementAlignment: 8)
        try write(path, code: 1, signature: .objectPath, into: &writer)
        try write(interface, code: 2, signature: .string, into: &writer)
        try write(member, code: 3, signature: .string, into: &writer)
        try write(errorName, code: 4, signature: .string, into: &writer)
        if let replySerial { write(replySerial, code: 5, into: &writer) }
        try write(destination, code: 6, signature: .string, into: &writer)
        if !signature.isEmpty {
            begin(code: 8, .signature, into: &writer)
            writer.signature(signature)
        }
        if unixFDs > 0 { write(unixFDs, code: 9, into: &writer) }
        try writer.endArray(fields)
        writer.align(8)
    }
    /// The field's code, and its variant's signature.
    private func begin(code: UInt8, _ type: DBusType, into writer: inout WireWriter) {
        writer.align(8)
        writer.byte(code)
        writer.byte(1)
        for byte in type.description.utf8 { writer.byte(byte) }
        writer.byte(0)
    }
    private func write(_ text: String?, code: UInt8, signature: DBusType, into writer: inout WireWriter)
        throws(RelayError)
    {
        guard let text else { return }
        begin(code: code, signature, into: &writer)
        try writer.string(text)
    }
    private func write(_ number: UInt32, code: UInt8, into writer: inout WireWriter) {
        begin(code: code, .uint32, into: &writer)
        writer.uint32(number)
    }

    private func check(serial: UInt32) throws(RelayError) {
        if serial == 0 { throw RelayError(.invalidArgument, "a message's serial must not be 0") }
        switch kind {
        case .methodCall: try require([("path", path), ("member", member)])
        case .signal: try require([("path", path), ("interface", interface), ("member", member)])
        case .error: try require([("error name", errorName)])
        case .methodReturn: break
        }
        if kind == .methodReturn || kind == .error, replySerial ?? 0 == 0 {
            throw RelayError(.invalidArgument, "a reply needs the serial of its call, and that is never 0")
        }
        if replySerial == 0 { throw RelayError(.invalidArgument, "a reply serial must not be 0") }
        let names: [(String?, BusNameKind)] = [
            (path, .objectPath), (interface, .interface), (member, .member), (errorName, .errorName),
            (destination, .busName),
        ]
        for case (let name?, let kind) in names { try BusNames.check(name, as: kind) }
        if path == "/org/freedesktop/DBus/Local" || interface == "org.freedesktop.DBus.Local" {
            throw RelayError(.invalidArgument, "org.freedesktop.DBus.Local never leaves a process: libdbus refuses it")
        }
    }
    private func require(_ fields: [(String, String?)]) throws(RelayError) {
        for case (let field, nil) in fields {
            throw RelayError(.invalidArgument, "a message of kind \(kind) needs the header field '\(field)'")
        }
    }
}

/// A message header made once, for what is sent often: emitting copies it, appends a body, and fills serial and length
/// in.
package struct MessageTemplate: Sendable {
    package let header: MessageHeader
    private let bytes: [UInt8]

    /// Throws `.invalidArgument` for a bad or missing field.
    package init(_ header: MessageHeader) throws(RelayError) {
        self.header = header
        var writer = WireWriter()
        _ = try header.write(into: &writer, serial: 1)
        bytes = writer.bytes
    }
    /// A broadcast signal.
    package init(path: String, interface: String, member: String, signature: Signature) throws(RelayError) {
        try self.init(.signal(path: path, interface: interface, member: member, signature: signature))
    }
    /// How many bytes the header has; the body starts there, aligned.
    package var bodyStart: Int { bytes.count }

    /// Empties the writer and puts the header there.
    package func begin(_ writer: inout WireWriter) {
        writer.removeAll()
        writer.append(bytes)
    }
    /// Fills serial and body length in. Throws `.tooLarge` over `limit` bytes, and `.invalidArgument` for serial 0.
    package func finish(
        _ writer: inout WireWriter, serial: UInt32, limit: Int = WireLimits.defaultMessageLength
    ) throws(RelayError) {
        if serial == 0 { throw RelayError(.invalidArgument, "a message's serial must not be 0") }
        try MessageHeader.finish(&writer, bodyStart: bodyStart, limit: limit)
        writer.patch(serial, at: MessageHeader.serialOffset)
    }
}
