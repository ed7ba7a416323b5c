import Synchronization
import RelayWire

/// Reads the present state of a service's document, by the schema that the service has for it.
final class DocumentReader<Document: DomainDocument>: Sendable {
    private struct Known {
        /// Who reported them.
        let owner: String
        let schemas: StreamSchemas
    }
    private let codec: WireCodec<Document>
    private let known = Mutex<Known?>(nil)

    /// Throws `UnsupportedType` with type, field and reason.
    init() throws { codec = try WireCodec(event: Document.self) }

    /// Throws what a call throws, and `SchemaMismatch` for a state that this program cannot read.
    func read(_ follower: ServiceFollower, timeout: Duration) async throws -> VersionedState<Document> {
        let (snapshot, fields) = try await snapshot(follower, timeout: timeout)
        let translation = try WireTranslation(from: fields, to: codec.schema.fields, .reading, of: Document.name)
        let state = try snapshot.fields.withUnsafeBytes { try codec.decode($0, by: translation) }
        return VersionedState(state, version: snapshot.version)
    }
    /// The present state as the service has it, with its fields. Throws what a call throws.
    func snapshot(
        _ follower: ServiceFollower, timeout: Duration
    ) async throws -> (snapshot: DocumentSnapshot, fields: [WireField]) {
        var request = WireWriter()
        try request.string(Document.name)
        let reply = try await ask(follower, "GetDocument", try Signature("s"), request.bytes, timeout)
        let snapshot = try reply.read(Stream1.documentSignature) { try Stream1.readDocument(&$0) }
        let fields = try await fields(snapshot.schema, reply.sender, follower, timeout)
        let expected = "(\(fields.signature))"
        guard snapshot.signature == expected else {
            throw RelayError(
                .schemaMismatch, "\(Document.name) came as '\(snapshot.signature)' instead of '\(expected)'")
        }
        return (snapshot, fields)
    }
    /// Asks for the schemas of an owner once, and again when there is another one. Throws `Unavailable` if that is
    /// another one than replied before: its numbers may be of other fields, with the same signature.
    private func fields(
        _ schema: UInt32, _ owner: String, _ follower: ServiceFollower, _ timeout: Duration
    ) async throws -> [WireField] {
        if let known = known.withLock({ $0 }), known.owner == owner, let fields = fields(schema, known.schemas) {
            return fields
        }
        let reply = try await ask(follower, "Schemas", .empty, [], timeout)
        let schemas = StreamSchemas(try reply.read(Stream1.schemasSignature) { try Stream1.readSchemas(&$0) })
        known.withLock { $0 = Known(owner: reply.sender, schemas: schemas) }
        guard reply.sender == owner else {
            throw RelayError(
                .unavailable, "\(Document.name): the service restarted while its state was read: try again")
        }
        guard let fields = fields(schema, schemas) else {
            throw RelayError(
                .schemaMismatch,
                "the service does not report the fields of \(Document.name) as schema \(schema) has them"
            )
        }
        return fields
    }
    private func fields(_ number: UInt32, _ schemas: StreamSchemas) -> [WireField]? {
        schemas.format(number).flatMap { $0.name == Document.name ? $0.fields : nil }
    }
    private func ask(
        _ follower: ServiceFollower, _ member: String, _ signature: Signature, _ body: [UInt8], _ timeout: Duration
    ) async throws -> BusReply {
        try await follower.call(
            path: Stream1.path(of: Document.Interface.name), interface: Stream1.name, member: member,
            signature: signature, body: body, timeout: timeout)
    }
}
