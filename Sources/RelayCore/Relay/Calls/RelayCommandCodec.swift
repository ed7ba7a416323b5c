/// A command's codec without its type: what the relay's table holds.
protocol RelayCommandCodec: Sendable {}

/// How a command goes out, and its answer comes in.
struct TypedCommandCodec<C: Command>: RelayCommandCodec {
    let signature: Signature
    private let request: WireCodec<C>
    private let reply: WireCodec<C.Reply>

    init(_ type: C.Type) throws {
        request = try WireCodec(C.self)
        reply = try WireCodec(C.Reply.self)
        signature = try Signature(request.schema.signature)
    }
    func encode(_ command: C) throws -> [UInt8] {
        var writer = WireWriter()
        try request.encode(command, into: &writer)
        return writer.bytes
    }
    /// Throws `SchemaMismatch` for an answer of another shape: the command has run.
    func decode(_ answer: BusReply) throws(RelayError) -> C.Reply {
        let expected = reply.schema.signature
        do {
            guard answer.signature == expected else {
                throw RelayError(.schemaMismatch, "signature '\(answer.signature)' instead of '\(expected)'")
            }
            return try answer.body.withUnsafeBytes { try reply.decode($0, using: reply.map) }
        } catch {
            throw RelayError(
                .schemaMismatch, "the answer of \(C.name) cannot be read: \(error)", cause: error, mayHaveRun: true)
        }
    }
    /// A declared refusal as itself, everything else as what went wrong.
    func commandError(_ error: RelayError) -> CommandError<C.Failure> {
        let prefix = C.Interface.name + ".Error."
        guard let remote = error.cause as? RemoteError, remote.name.hasPrefix(prefix),
            let failure = C.Failure(errorName: String(remote.name.dropFirst(prefix.count)), message: remote.message)
        else { return .relay(error) }
        return .refused(failure)
    }
}
