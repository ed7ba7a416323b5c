import RelayCore
import RelayTool
import RelayWire

/// A document of a service, by its description: a property, whose entries are events of the same name.
struct DocumentTarget: Equatable, Sendable {
    let path: String
    let interface: String
    let event: IntrospectedEvent
    /// nil for a document that only the service sets.
    let submit: IntrospectedCommand?

    private var signature: String { event.fields.map(\.shape.signature).joined() }

    /// The present state. Throws `ServiceAbsent` or `CLIFailure`.
    func snapshot(asking caller: any ServiceCaller, timeout: Duration) async throws -> DocumentSnapshot {
        var request = WireWriter()
        try request.string(event.name)
        let reply = try await caller.call(
            OutgoingCall(
                path: path, interface: Stream1.name, member: "GetDocument", signature: "s", body: request.bytes),
            timeout: timeout)
        guard reply.signature == Stream1.documentSignature else {
            throw CLIFailure(.software, "\(event.name) came as '\(reply.signature)', which is no document")
        }
        do {
            return try reply.body.withUnsafeBytes { bytes in
                var reader = WireReader(bytes)
                return try Stream1.readDocument(&reader)
            }
        } catch {
            throw CLIFailure(.software, "\(event.name) cannot be read: \(error)")
        }
    }
    /// A line of its fields, or an object.
    func text(of state: DocumentSnapshot, _ style: OutputStyle) throws(CLIFailure) -> [UInt8] {
        let printer =
            state.signature == "(\(signature))"
            ? FieldsPrinter(event.fields, signature: signature, style: style)
            : FieldsPrinter(unknown: String(state.signature.dropFirst().dropLast()), style: style)
        guard let printer else {
            throw CLIFailure(.software, "\(event.name): the signature is none: '\(state.signature)'")
        }
        var output = ByteBuffer()
        if style.json { output.append("{") }
        do throws(WireFault) {
            try printer.append(state.fields, to: &output)
        } catch {
            throw CLIFailure(.software, "\(event.name) is malformed: \(error)")
        }
        if style.json { output.append("}") }
        output.append("\n")
        return output.bytes
    }

    func state(_ snapshot: DocumentSnapshot) -> DocumentState {
        DocumentState(
            interface: interface, name: event.name, version: snapshot.version, signature: snapshot.signature,
            fields: snapshot.fields)
    }

    // MARK: Changes

    /// The fields of the present state with these in the place of theirs.
    func state(
        from present: DocumentSnapshot, changing changes: [Call.Argument]
    ) throws(CLIFailure) -> [UInt8] {
        let values: [DBusValue]
        do {
            guard present.signature == "(\(signature))" else {
                throw CLIFailure(.software, "\(event.name) came as '\(present.signature)': it is described otherwise")
            }
            values = try DBusValue.decode(signature: Signature(signature), body: present.fields)
        } catch {
            throw error as? CLIFailure ?? CLIFailure(.software, "\(event.name) cannot be read: \(error)")
        }
        return try ArgumentEncoder.fields(event.fields, of: event.name, values, changing: changes)
    }
    func submission(
        of fields: [UInt8], basedOn version: DocumentVersion, by submit: IntrospectedCommand,
        under contract: ContractID?, operation: String
    ) throws -> OutgoingCall {
        var body = WireWriter()
        body.align(8)
        body.append(fields)
        body.uint64(version.epoch)
        body.uint64(version.sequence)
        let key = body.beginArray(elementAlignment: 4)
        try body.string(operation)
        try body.endArray(key)
        return OutgoingCall(
            path: contract?.path(of: path) ?? path, interface: interface, member: submit.name,
            signature: "(\(signature))ttas", body: body.bytes)
    }
    /// Whether the document had another version than the one that was submitted. An idempotency key is submitted once: what
    /// the service has forgotten was another's.
    func isConflict(_ failure: CLIFailure) -> Bool {
        failure.refusal == interface + ".Error.Conflict" || failure.refusal == interface + ".Error.Forgotten"
    }
}

extension IntrospectedInterface {
    /// Whether the events of this name are states of a document.
    func isDocument(_ name: String) -> Bool {
        properties.contains { $0.value.name == name } && events.contains { $0.name == name && $0.isStamped }
    }
}

extension Catalogue {
    /// The documents among these names of events; none for the name of none, or of more than one.
    func documents(among names: [String]) -> [DocumentTarget] {
        var found: [DocumentTarget] = []
        for name in names {
            if let document = try? document(name), !found.contains(document) { found.append(document) }
        }
        return found
    }
    /// The document of this name. Throws `.usage` if there is none, or more than one.
    func document(_ name: String) throws(CLIFailure) -> DocumentTarget {
        var found: [DocumentTarget] = []
        for entry in offered {
            for event in entry.interface.events
            where entry.interface.isDocument(event.name) && Self.matches(name, entry.interface.name, event.name) {
                let submit = entry.interface.commands.first { $0.name == "Submit" + event.name }
                found.append(
                    DocumentTarget(path: entry.path, interface: entry.interface.name, event: event, submit: submit))
            }
        }
        guard let first = found.first else {
            let text = unknown("document", name) { interface in
                interface.events.map(\.name).filter { interface.isDocument($0) }
            }
            throw CLIFailure(.usage, text)
        }
        if found.count > 1 {
            let places = found.map { $0.interface + "." + $0.event.name }.joined(separator: ", ")
            throw CLIFailure(.usage, "'\(name)' is a document of more than one interface; say which: \(places)")
        }
        return first
    }
}

enum DocumentOptions {
    static let document = Operand(
        ValueKind<String>("DOCUMENT") { text throws(Unfit) in
            if text.isEmpty { throw Unfit("is no document's name; 'list' shows them as properties") }
            return text
        },
        "a document's name; 'list' shows them as properties")
}
