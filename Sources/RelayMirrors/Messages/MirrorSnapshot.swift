package import RelayCore
package import RelayWire

/// What a mirror has to know beside the events: the body of a snapshot.
package struct MirrorSnapshot: Hashable, Sendable {
    package struct Document: Hashable, Sendable {
        package let name: String
        /// Of the entry that set the state.
        package let sequence: UInt64
        package let schema: UInt32
        /// As `GetDocument` returns it.
        package let state: [UInt8]
        package init(name: String, sequence: UInt64, schema: UInt32, state: [UInt8]) {
            (self.name, self.sequence, self.schema, self.state) = (name, sequence, schema, state)
        }
    }
    /// The runs of the history, all of them, the origin's last; and the undone ones that are known.
    package let table: RunTable
    /// The last sequence of each name.
    package var last: [String: UInt64] = [:]
    /// All that the origin reports.
    package var schemas: [UInt32: EventSchema] = [:]
    package var documents: [Document] = []
    /// The interface's, as `Contract` returns it.
    package var contract = ""

    package init(_ table: RunTable) { self.table = table }

    // MARK: Bytes

    package func bytes() throws(RelayError) -> [UInt8] {
        var writer = WireWriter(capacity: 1_024 + table.size)
        try table.write(into: &writer)
        try Stream1.write(last, into: &writer)
        try Stream1.write(schemas, into: &writer)
        let states = writer.beginArray(elementAlignment: 8)
        for document in documents {
            writer.align(8)
            try writer.string(document.name)
            writer.uint64(document.sequence)
            writer.uint32(document.schema)
            let state = writer.beginArray(elementAlignment: 1)
            writer.append(document.state)
            try writer.endArray(state)
        }
        try writer.endArray(states)
        try writer.string(contract)
        return writer.takeBytes()
    }
    /// Throws for a body that is no snapshot's, or that contradicts the header.
    ///
    /// - Parameter header: that of any of its parts.
    package init(_ bytes: [UInt8], of header: MirrorHeader) throws {
        self = try bytes.withUnsafeBytes { bytes in
            do {
                var reader = WireReader(bytes)
                let snapshot = try Self(&reader)
                try reader.finish()
                if let fault = snapshot.fault(in: header) { throw WireFault(.payload(fault), at: 0) }
                return snapshot
            } catch let fault as WireFault { throw fault.relayError("a snapshot of a mirror") }
        }
    }
    private init(_ reader: inout WireReader) throws {
        table = try RunTable(&reader)
        last = try Stream1.readLast(&reader)
        for name in last.keys { try BusNames.check(name, as: .member) }
        schemas = try Stream1.readSchemas(&reader)
        documents = try reader.elements { reader throws(WireFault) in
            let (name, sequence, schema) = (try reader.string(), try reader.uint64(), try reader.uint32())
            let end = try reader.beginArray(elementAlignment: 1)
            let state = Array(try reader.raw(end - reader.position))
            return Document(name: name, sequence: sequence, schema: schema, state: state)
        }
        contract = try reader.string()
    }
    private func fault(in header: MirrorHeader) -> String? {
        guard let present = table.runs.last else { return "no run" }
        if present.epoch != header.epoch { return "the run \(present.epoch) in a snapshot of \(header.epoch)" }
        for document in documents where schemas[document.schema]?.event != document.name {
            return "the document \(BusNames.quoted(document.name)) of the schema \(document.schema)"
        }
        return nil
    }
}
