import RelayCore
import Synchronization
import RelayWire

/// How long replies to commands with a key are kept.
///
/// All users share one bound. Where it is exceeded, the user whose replies count most loses its oldest: so a user who
/// keeps no more than an equal share loses nothing to others.
struct KeptReplies: Sendable {
    /// In microseconds, as `RetentionClock` counts them.
    var age: UInt64 = 86_400_000_000
    /// What all replies may count for together.
    var cost: Int64 = 64 << 20
    /// What a reply counts for beside its bytes and its texts. So the bound holds for the number of replies, too.
    static let overhead: Int64 = 512
    /// So many that have reached their age go at a time: more than come.
    static let step = 8
    /// In `relay_reply_costs`: all users.
    static let everyone: Int64 = -1
    /// The fields of a `DocumentVersion`, the reply to a submission, as the journal keeps them.
    static let versionFields = "epoch:t\nsequence:t"
}

/// How a command's arguments are compared, and its reply is kept.
final class ReplyCodec<C: Command>: Sendable {
    let arguments: CommandHash<C>
    private let reply: WireCodec<C.Reply>
    /// As the journal keeps it.
    let fields: String
    /// A message's, less room for its header.
    private static var limit: Int { WireLimits.defaultMessageLength - 1_024 }

    init() throws {
        (arguments, reply) = (try CommandHash(), try WireCodec(C.Reply.self))
        fields = SchemaRow.text(reply.schema.fields)
    }
    func encode(_ value: C.Reply) throws -> [UInt8] {
        var writer = WireWriter()
        try reply.encode(value, into: &writer)
        if writer.count <= Self.limit { return writer.takeBytes() }
        throw RelayError(
            .tooLarge,
            "\(C.name): a reply of \(writer.count) bytes is over the limit of \(Self.limit); nothing was done")
    }
    /// Reads a reply of this or an earlier version.
    func decode(_ body: [UInt8], fields: String) throws -> C.Reply {
        if fields == self.fields { return try body.withUnsafeBytes { try reply.decode($0) } }
        let translation = try WireTranslation(
            from: try SchemaRow.parsed(fields), to: reply.schema.fields, .reading, of: "the kept reply to \(C.name)")
        return try body.withUnsafeBytes { try reply.decode($0, by: translation) }
    }
}

/// One codec for each command: deriving a schema takes longer than answering.
final class ReplyCodecs: Sendable {
    private let codecs = Mutex<[ObjectIdentifier: any Sendable]>([:])

    func codec<C: Command>(for type: C.Type) throws -> ReplyCodec<C> {
        let id = ObjectIdentifier(type)
        if let known = codecs.withLock({ $0[id] }) as? ReplyCodec<C> { return known }
        let new = try ReplyCodec<C>()
        codecs.withLock { $0[id] = new }
        return new
    }
}

extension UnitOfWork {
    /// The first reply to a call; nil if there is none. Throws `KeyReused` if that call had other arguments.
    mutating func keptReply<C: Command>(to call: KeyedCall, _ codec: ReplyCodec<C>) throws -> C.Reply? {
        var found: (arguments: Int64, fields: String, reply: [UInt8])?
        try ownRows(
            """
            SELECT arguments, fields, reply FROM relay_replies
            WHERE user = ? AND interface = ? AND command = ? AND key = ?
            """,
            [.integer(Int64(call.user)), .text(C.Interface.name), .text(C.name), .text(call.key)]
        ) { found = ($0.integer("arguments"), $0.text("fields"), $0.blob("reply")) }
        guard let found else { return nil }
        if !call.arguments.matches(found.arguments) { throw call.reused }
        return try codec.decode(found.reply, fields: found.fields)
    }
    /// Keeps the reply to a call, and drops what is too old or too much.
    mutating func keep<C: Command>(_ reply: C.Reply, to call: KeyedCall, _ codec: ReplyCodec<C>) throws {
        let bytes = try codec.encode(reply)
        let cost = Int64(bytes.count + call.key.utf8.count + codec.fields.utf8.count) + KeptReplies.overhead
        var number: Int64 = 0
        try ownRows(
            """
            INSERT INTO relay_replies (user, interface, command, key, arguments, cost, elapsed, fields, reply)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING number
            """,
            [
                .integer(Int64(call.user)), .text(C.Interface.name), .text(C.name), .text(call.key),
                .integer(call.arguments.present),
                .integer(cost), .integer(Int64(clamping: engine.elapsed)), .text(codec.fields), .blob(bytes),
            ]
        ) { number = $0.integer("number") }
        try ownRows(
            """
            INSERT INTO relay_reply_costs VALUES (?1, ?2), (?3, ?2)
            ON CONFLICT (user) DO UPDATE SET cost = cost + excluded.cost
            """,
            [.integer(Int64(call.user)), .integer(cost), .integer(KeptReplies.everyone)]
        ) { _ in }
        try dropRepliesPastTheirAge(before: number)
        try dropRepliesPastTheBound(butNot: number)
    }

    private struct KeptReply {
        let number, user, cost: Int64
        init(_ row: borrowing Row) {
            (number, user, cost) = (row.integer("number"), row.integer("user"), row.integer("cost"))
        }
    }
    /// Their times rise with their numbers.
    private mutating func dropRepliesPastTheirAge(before newest: Int64) throws {
        let elapsed = Int64(clamping: engine.elapsed)
        let limit = elapsed - min(elapsed, Int64(clamping: engine.keptReplies.age))
        var old: [KeptReply] = []
        try ownRows(
            """
            SELECT number, user, cost
            FROM (SELECT number, user, cost, elapsed FROM relay_replies ORDER BY number LIMIT \(KeptReplies.step))
            WHERE number < ? AND elapsed < ?
            """,
            [.integer(newest), .integer(limit)]
        ) { old.append(KeptReply($0)) }
        for reply in old { try drop(reply) }
    }
    /// - Parameter newest: stays, whatever the bound is.
    private mutating func dropRepliesPastTheBound(butNot newest: Int64) throws {
        var total: Int64 = 0
        try ownRows("SELECT cost FROM relay_reply_costs WHERE user = ?", [.integer(KeptReplies.everyone)]) {
            total = $0.integer("cost")
        }
        while total > engine.keptReplies.cost, let reply = try oldestOfTheHeaviest(butNot: newest) {
            try drop(reply)
            // Another program may have put any number there.
            total = total.subtractingReportingOverflow(max(0, reply.cost)).partialValue
        }
    }
    private mutating func oldestOfTheHeaviest(butNot newest: Int64) throws -> KeptReply? {
        var users: [Int64] = []
        // The first is everyone. The newest may be the only one of the second.
        try ownRows("SELECT user FROM relay_reply_costs ORDER BY cost DESC LIMIT 3", []) {
            users.append($0.integer("user"))
        }
        for user in users where user != KeptReplies.everyone {
            var oldest: KeptReply?
            try ownRows(
                """
                SELECT number, user, cost FROM relay_replies WHERE user = ? AND number <> ? ORDER BY number LIMIT 1
                """,
                [.integer(user), .integer(newest)]
            ) { oldest = KeptReply($0) }
            if let oldest { return oldest }
        }
        return nil
    }
    private mutating func drop(_ reply: KeptReply) throws {
        var submission: (interface: String, command: String, sequence: UInt64)?
        try ownRows(
            "DELETE FROM relay_replies WHERE number = ? RETURNING interface, command, fields, reply",
            [.integer(reply.number)]
        ) { row in
            let command = row.text("command")
            guard command.hasPrefix("Submit"), row.text("fields") == KeptReplies.versionFields else { return }
            let sequence = row.blob("reply").withUnsafeBytes { bytes in
                var reader = WireReader(bytes)
                return (try? reader.uint64()).flatMap { _ in try? reader.uint64() }
            }
            if let sequence { submission = (row.text("interface"), command, sequence) }
        }
        if let (interface, command, sequence) = submission {
            try ownRows(
                """
                INSERT INTO relay_forgotten VALUES (?, ?, ?)
                ON CONFLICT (interface, command) DO UPDATE SET sequence = max(sequence, excluded.sequence)
                """,
                [.text(interface), .text(command), .integer(Int64(bitPattern: sequence))]
            ) { _ in }
        }
        try ownRows(
            "UPDATE relay_reply_costs SET cost = cost - ? WHERE user IN (?, ?)",
            [.integer(reply.cost), .integer(reply.user), .integer(KeptReplies.everyone)]
        ) { _ in }
        try ownRows("DELETE FROM relay_reply_costs WHERE user = ? AND cost <= 0", [.integer(reply.user)]) { _ in }
    }
}

extension UnitOfWork {
    /// The highest sequence of a version among the replies to a command that were dropped.
    mutating func forgottenSequence(_ command: String, of interface: String) throws -> UInt64 {
        var forgotten: UInt64 = 0
        try ownRows(
            "SELECT sequence FROM relay_forgotten WHERE interface = ? AND command = ?",
            [.text(interface), .text(command)]
        ) { forgotten = UInt64(bitPattern: $0.integer("sequence")) }
        return forgotten
    }
}
