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
    /// Asks how much the bus holds for one connection, from all senders.
    static func question(to source: ServiceCore.UnreadSource, about peer: String) throws(RelayError) -> MethodCall {
        switch source {
        case .connection: try question(to: .sender, by: peer)
        case .peers: try question(to: .users, by: peer)
        case .nobody: throw RelayError(.notFound, "this bus does not say what it holds for \(peer)")
        }
    }
    /// Throws `SchemaMismatch` when the answer has not what was asked for, `Unavailable` when the peer has left.
    static func held(
        for peer: String, _ reply: BusReply, from source: ServiceCore.UnreadSource
    ) throws(RelayError) -> Int {
        guard reply.signature == "a{sv}", case .dictionary(_, let entries)? = try reply.values().first else {
            throw RelayError(.schemaMismatch, "the bus's figures have the signature '\(reply.signature)'")
        }
        func bytes(_ entries: [DBusValue.Entry]) -> Int? {
            for entry in entries where entry.key == .string("OutgoingBytes") {
                switch entry.value {
                case .variant(.uint32(let bytes)), .uint32(let bytes): return Int(bytes)
                default: return nil
                }
            }
            return nil
        }
        if source == .connection, let held = bytes(entries) { return held }
        let key = DBusValue.string("org.bus1.DBus.Debug.Stats.PeerAccounting")
        if source == .peers, case .variant(.array(_, let peers))? = entries.first(where: { $0.key == key })?.value {
            for case .structure(let fields) in peers where fields.first == .string(peer) {
                // Its name, its credentials, its figures.
                for case .dictionary(_, let figures) in fields.dropFirst() {
                    if let held = bytes(figures) { return held }
                }
                throw RelayError(.schemaMismatch, "the bus does not say how much it holds for a peer")
            }
            throw RelayError(.unavailable, "\(peer) has left the bus")
        }
        throw RelayError(.schemaMismatch, "the bus does not say how much it holds for a peer")
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
