/// What a bus tells of how much it holds (`org.freedesktop.DBus.Debug.Stats`, which the specification leaves to each).
struct BusFigures: Equatable {
    /// Bytes that were sent, and not yet taken.
    let held: Int
    /// How many there may be, where the bus tells.
    let room: Int?

    static func question(to source: PressureMeter.Source, by name: String) throws(RelayError) -> MethodCall {
        var call = MethodCall.toBus(source == .sender ? "GetConnectionStats" : "GetStats")
        call.interface = "org.freedesktop.DBus.Debug.Stats"
        if source == .sender {
            var body = WireWriter()
            try body.string(name)
            (call.signature, call.body) = (try Signature("s"), body.bytes)
        }
        return call
    }
    /// Throws `SchemaMismatch` when the answer has not what was asked for.
    init(_ reply: BusReply, from source: PressureMeter.Source) throws(RelayError) {
        guard reply.signature == "a{sv}", case .dictionary(_, let entries)? = try reply.values().first else {
            throw RelayError(.schemaMismatch, "the bus's figures have the signature '\(reply.signature)'")
        }
        func value(_ key: String) -> DBusValue? {
            let entry = entries.first { $0.key == .string(key) }
            return if case .variant(let value)? = entry?.value { value } else { nil }
        }
        switch source {
        case .sender:
            // Of the connection that was asked for: what it has sent, and others have not taken.
            if case .uint32(let bytes)? = value("IncomingBytes") {
                (held, room) = (Int(bytes), nil)
                return
            }
        case .users:
            // (user, [(what, free, of how many)], who uses it). The user that has most waiting comes to the end first.
            let bytes = value("org.bus1.DBus.Debug.Stats.UserAccounting").flatMap(Self.users) ?? []
            if let fullest = bytes.max(by: { $0.held < $1.held }) {
                (held, room) = (fullest.held, bytes.map(\.room).min())
                return
            }
        case .queue: break
        }
        throw RelayError(.schemaMismatch, "the bus does not tell how much it holds")
    }
    private static func users(_ value: DBusValue) -> [(held: Int, room: Int)]? {
        guard case .array(_, let users) = value else { return nil }
        return users.compactMap { user in
            guard case .structure(let fields) = user, fields.count > 1, case .array(_, let slots) = fields[1] else {
                return nil
            }
            for case .structure(let slot) in slots where slot.count == 3 && slot[0] == .string("Bytes") {
                if case (.uint32(let free), .uint32(let room)) = (slot[1], slot[2]), free <= room {
                    return (Int(room - free), Int(room))
                }
            }
            return nil
        }
    }
}
