import RelayWire

/// A command's codec without its type: what the relay's table holds.
protocol RelayCommandCodec: AnyObject, Sendable {}

/// How a command goes out, and its answer comes in.
final class TypedCommandCodec<C: Command>: RelayCommandCodec {
    /// Its name is looked up once: `C.name` is made from the type's metadata, unless the contract has it.
    let form: CommandForm
    private let replySignature: String
    /// Whether its arguments have file descriptors, and whether its reply may have some.
    private let sendsDescriptors, takesDescriptors: Bool
    private let request: WireCodec<C>
    private let reply: WireCodec<C.Reply>
    private let progress: WireCodec<C.Progress>?

    init(_ type: C.Type) throws {
        request = try WireCodec(C.self)
        reply = try WireCodec(replyOf: C.self)
        progress = try WireCodec(progressOf: C.self)
        replySignature = reply.schema.signature
        (sendsDescriptors, takesDescriptors) = (request.schema.hasDescriptors, reply.schema.hasDescriptors)
        form = try CommandForm(
            C.Interface.name, C.name, request.schema, reply: reply.schema, progress: progress?.schema,
            submitsDocument: C.self is any DocumentSubmission.Type, asksPeople: C.requirement.needsPolkit)
    }
    private var name: String { form.name }
    func call(_ command: C, to service: String) throws(RelayError) -> MethodCall {
        do {
            let (body, descriptors) = try encode(command)
            var call = MethodCall(
                to: service, path: form.path, interface: form.interface, member: name, signature: form.signature,
                body: body)
            (call.descriptors, call.takesDescriptors) = (descriptors, takesDescriptors)
            return call
        } catch {
            throw error as? RelayError ?? RelayError(.internalFailure, "\(name): \(error)", cause: error)
        }
    }
    /// The arguments, and the descriptors among them: they are sent, and closed here if they cannot be.
    private func encode(_ command: C) throws -> (body: [UInt8], descriptors: [ReceivedDescriptor]) {
        var writer = WireWriter()
        if !sendsDescriptors {
            try request.encode(command, into: &writer)
            return (writer.takeBytes(), [])
        }
        let bag = DescriptorBag { ReceivedDescriptor.close($0) }
        try DescriptorBag.$current.withValue(bag) { try request.encode(command, into: &writer) }
        return (writer.takeBytes(), bag.takeAll().map { ReceivedDescriptor($0) })
    }
    /// Throws `SchemaMismatch` for an answer that is not what the service's contract has: the command has run.
    func decode(_ answer: BusReply) throws(RelayError) -> C.Reply {
        do {
            if answer.signature != replySignature {
                throw RelayError(.schemaMismatch, "it came as '\(answer.signature)' instead of '\(replySignature)'")
            }
            func decoded() throws -> C.Reply {
                try answer.body.withUnsafeBytes { try reply.decode($0) }
            }
            if !takesDescriptors { return try decoded() }
            let bag = DescriptorBag(answer.transferred.compactMapValues { $0.disown() }) {
                ReceivedDescriptor.close($0)
            }
            return try DescriptorBag.$current.withValue(bag) { try decoded() }
        } catch {
            let reason = (error as? RelayError)?.message ?? "\(error)"
            throw RelayError(
                .schemaMismatch, "the reply of \(name) cannot be read: \(reason); update this program or the service",
                cause: error, mayHaveRun: true)
        }
    }
    /// Nil for progress of another shape: the command goes on all the same.
    func decodeProgress(_ signature: String, _ body: [UInt8]) -> C.Progress? {
        guard let progress, signature == "(\(progress.schema.signature))" else { return nil }
        return try? body.withUnsafeBytes { try progress.decode($0) }
    }
    func outcome(of result: Result<BusReply, RelayError>) -> CommandOutcome<C> {
        do throws(RelayError) { return .success(try decode(try result.get())) } catch { return outcome(of: error) }
    }
    /// A declared refusal as itself, everything else as what went wrong.
    func outcome(of error: RelayError) -> CommandOutcome<C> {
        guard let remote = error.cause as? RemoteError else { return .failed(error) }
        let prefix = form.interface + ".Error."
        guard remote.name.hasPrefix(prefix) else { return .failed(error) }
        let errorName = String(remote.name.dropFirst(prefix.count))
        if let refusal = C.Refusal(errorName: errorName, message: remote.message) { return .refused(refusal) }
        return .failed(
            RelayError(
                .unknownRefusal,
                "\(name) was refused as \(errorName), which this program does not know: \(remote.message)",
                cause: remote))
    }
}
