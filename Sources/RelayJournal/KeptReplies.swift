import RelayCore
import Synchronization

/// How long replies to commands with a key are kept: the first bound that is reached counts.
struct KeptReplies: Sendable {
    static let longestKey = 255
    /// In microseconds.
    var age: UInt64 = 86_400_000_000
    var count: Int64 = 100_000
    var bytes: Int64 = 64 << 20
    /// What a row takes beside its texts and its reply.
    static let overhead: Int64 = 128
}

/// A call with a key: what makes two calls the same one.
struct KeyedCall: Sendable {
    let key: String
    let user: Int64
    let arguments: Int64

    init(key: String, user: UInt32, arguments: Int64) {
        (self.key, self.user, self.arguments) = (key, Int64(user), arguments)
    }
}

/// How a command's arguments are compared, and its reply is kept.
final class ReplyCodec<C: Command>: Sendable {
    private let request: WireCodec<C>
    private let reply: WireCodec<C.Reply>
    private let arguments: ArgumentHash
    /// As the journal keeps it.
    let fields: String
    /// A message's, less room for its header.
    private static var limit: Int { WireLimits.defaultMessageLength - 1_024 }

    init() throws {
        (request, reply) = (try WireCodec(C.self), try WireCodec(C.Reply.self))
        arguments = try ArgumentHash(request.schema)
        fields = reply.schema.fields.map(\.description).joined(separator: "\n")
    }
    /// The same for the same arguments, in this version and in others that take them.
    ///
    /// Who finds two commands with the same hash has two of his own: the keys of others are not his.
    func hash(_ command: C) throws -> Int64 {
        var writer = WireWriter()
        try request.encode(command, into: &writer)
        return writer.withUnsafeBytes { arguments.value($0) }
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
        let map =
            fields == self.fields
            ? reply.map
            : try FieldMap(
                sender: fields.split(separator: "\n").map { try WireField(parsing: String($0)) }, to: reply.schema,
                event: "the kept reply to \(C.name)")
        return try body.withUnsafeBytes { try reply.decode($0, using: map) }
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
            WHERE interface = ? AND command = ? AND user = ? AND key = ?
            """,
            [.text(C.Interface.name), .text(C.name), .integer(call.user), .text(call.key)]
        ) { found = ($0.integer(0), $0.text(1), $0.blob(2)) }
        guard let found else { return nil }
        guard found.arguments == call.arguments else {
            throw RelayError(
                .keyReused,
                "\(C.name): its idempotency key came before, with other arguments; nothing was done: take a new key for a "
                    + "new command")
        }
        return try codec.decode(found.reply, fields: found.fields)
    }
    /// Keeps the reply to a call, and drops what is too old or too much.
    mutating func keep<C: Command>(_ reply: C.Reply, to call: KeyedCall, _ codec: ReplyCodec<C>) throws {
        let (bytes, rule) = (try codec.encode(reply), engine.keptReplies)
        let elapsed = Int64(clamping: engine.elapsed)
        var (number, total): (Int64, Int64) = (1, 0)
        try ownRows("SELECT number, total FROM relay_replies ORDER BY number DESC LIMIT 1", []) {
            (number, total) = ($0.integer(0) &+ 1, $0.integer(1))
        }
        total &+= Int64(bytes.count + call.key.utf8.count + codec.fields.utf8.count) + KeptReplies.overhead
        try ownRows(
            """
            INSERT INTO relay_replies
                (number, interface, command, user, key, arguments, fields, reply, total, elapsed)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .integer(number), .text(C.Interface.name), .text(C.name), .integer(call.user), .text(call.key),
                .integer(call.arguments), .text(codec.fields), .blob(bytes), .integer(total), .integer(elapsed),
            ]
        ) { _ in }
        // All three rise with the number: it looks at what goes, and at one more.
        try ownRows(
            """
            DELETE FROM relay_replies WHERE number < coalesce(
                (SELECT number FROM relay_replies WHERE number > ? AND total > ? AND elapsed >= ?
                 ORDER BY number LIMIT 1), ?)
            """,
            [
                .integer(number &- rule.count), .integer(total &- rule.bytes),
                .integer(elapsed - min(elapsed, Int64(clamping: rule.age))), .integer(number),
            ]
        ) { _ in }
    }
}
