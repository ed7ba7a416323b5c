package import RelayWire

/// The reply of `GetDocument`: a document's state, and which version of it that is.
package struct DocumentSnapshot: Hashable, Sendable {
    /// Of the run that answers, and the sequence of the last entry.
    package let version: DocumentVersion
    /// Which of the schemas the fields are of.
    package let schema: UInt32
    /// Of the fields, as one structure.
    package let signature: String
    /// The fields of the state, from a multiple of 8: what an entry's body has before its stamp.
    package let fields: [UInt8]

    package init(version: DocumentVersion, schema: UInt32, signature: String, fields: [UInt8]) {
        (self.version, self.schema, self.signature, self.fields) = (version, schema, signature, fields)
    }
}

extension Stream1 {
    package static let documentSignature = "ttuv"

    package static func write(_ document: DocumentSnapshot, into writer: inout WireWriter) throws(RelayError) {
        writer.uint64(document.version.epoch)
        writer.uint64(document.version.sequence)
        writer.uint32(document.schema)
        writer.signature(try Signature(document.signature))
        writer.align(8)
        writer.append(document.fields)
    }
    /// Throws `SchemaMismatch` for a state that is no structure, and a `WireFault`.
    package static func readDocument(_ reader: inout WireReader) throws -> DocumentSnapshot {
        let version = DocumentVersion(epoch: try reader.uint64(), sequence: try reader.uint64())
        let schema = try reader.uint32()
        let signature = try reader.signature()
        guard signature.types.count == 1, let type = signature.types.first, case .structure = type else {
            throw RelayError(.schemaMismatch, "a document came as '\(signature)', which is no structure")
        }
        try reader.align(8)
        let start = reader.position
        try reader.skip(type)
        let end = reader.position
        reader.position = start
        let fields = try reader.raw(end - start)
        return DocumentSnapshot(
            version: version, schema: schema, signature: "\(signature)", fields: Array(fields))
    }
}
