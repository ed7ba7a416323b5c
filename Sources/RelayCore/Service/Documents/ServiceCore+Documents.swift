/// Documents on the bus: `GetDocument`, and the properties of their interface.
extension ServiceCore {
    /// A document of an interface, by its name.
    private func document(_ name: String, of interface: ExportedInterface) -> (Int, DocumentProperty)? {
        interface.stream.properties.first { $0.value.name == name }.map { ($0.key, $0.value) }
    }
    /// Answers `GetDocument`, in the place among the entries where the answer is true.
    func document(_ call: IncomingCall, _ interface: ExportedInterface, _ connection: BusConnection) {
        let name = call.body.withUnsafeBytes { body in
            var reader = WireReader(body)
            return try? reader.string()
        }
        guard let name, let (number, property) = document(name, of: interface) else {
            let names = interface.stream.properties.values.map(\.name).sorted().joined(separator: ", ")
            let text =
                "\(interface.name) has no document '\(name?.prefix(255) ?? "")'; "
                + (names.isEmpty ? "it has none" : "it has \(names)")
            return replies.fail(call, ErrorNames.name(for: .notFound), text, connection)
        }
        let schema = interface.schema(of: name)
        whenRead(call, interface, [number], connection) { core, entries in
            guard let entry = entries.first else { return }
            let snapshot = DocumentSnapshot(
                version: DocumentVersion(epoch: interface.stream.epoch, sequence: entry.sequence), schema: schema,
                signature: "\(property.signature)", fields: entry.fields)
            var body = WireWriter(capacity: entry.fields.count + 64)
            guard (try? Stream1.write(snapshot, into: &body)) != nil,
                let signature = try? Signature(Stream1.documentSignature)
            else { return }
            core.replies.reply(to: call, connection, signature, body: body.bytes)
        }
    }
    /// Answers `Get` of a document; or `GetAll`, if no name is given: with `others` before the documents.
    func properties(
        _ call: IncomingCall, _ interface: ExportedInterface, _ name: String?,
        _ others: [(name: String, value: DBusValue)], _ connection: BusConnection
    ) {
        let asked = interface.stream.properties.filter { name == nil || $0.value.name == name }
            .sorted { $0.key < $1.key }
        whenRead(call, interface, asked.map(\.key), connection) { core, entries in
            var body = WireWriter()
            do throws(RelayError) {
                if name != nil {
                    for (property, entry) in zip(asked, entries) { property.value.write(entry.fields, into: &body) }
                    return core.replies.reply(to: call, connection, try Signature("v"), body: body.bytes)
                }
                let array = body.beginArray(elementAlignment: 8)
                for (name, value) in others {
                    body.align(8)
                    try body.string(name)
                    try body.value(.variant(value), as: .variant)
                }
                for (property, entry) in zip(asked, entries) {
                    body.align(8)
                    try body.string(property.value.name)
                    property.value.write(entry.fields, into: &body)
                }
                try body.endArray(array)
                core.replies.reply(to: call, connection, try Signature("a{sv}"), body: body.bytes)
            } catch {
                core.replies.fail(call, ErrorNames.name(for: error.code), error.message, connection)
            }
        }
    }
    /// Answers with documents as they are at one moment: in the queue of the peer's commands, when it has read enough of
    /// what it got before.
    private func whenRead(
        _ call: IncomingCall, _ interface: ExportedInterface, _ numbers: [Int], _ connection: BusConnection,
        _ answer: @escaping @Sendable (ServiceCore, [PublishedDocuments.Entry]) -> Void
    ) {
        runForUser(call, connection) { core in
            let stream = interface.stream
            let size = numbers.reduce(1_024) { $0 + (stream.document($1)?.fields.count ?? 0) + 512 }
            if size > WireLimits.defaultMessageLength {
                let text = "\(interface.name) has documents of \(size) bytes together: ask for each by its name"
                return core.replies.fail(call, ErrorNames.name(for: .tooLarge), text, connection)
            }
            guard await core.replies.hasRoom(for: call, bytes: size, connection) else {
                return core.replies.fail(
                    call, ErrorNames.name(for: .limitsExceeded), "the replies before this one are unread", connection)
            }
            core.replies.prepareReply(to: call.sender)
            // Under the stream's lock: the reply is behind every entry that it counts, and before every later one.
            stream.withDocuments(numbers) { answer(core, $0) }
        }
    }
    /// Whether a call submits a document that is read only; refuses it then.
    func refusesSubmission(
        _ call: IncomingCall, _ interface: ExportedInterface?, _ connection: BusConnection
    ) -> Bool {
        let isMeant =
            interface?.stream.properties.contains { call.member == "Submit\($0.value.name)" } ?? false
        if isMeant {
            replies.refuse(
                call, .notPermitted, "\(call.member.dropFirst(6)) is read only: its service alone sets it", connection)
        }
        return isMeant
    }
}
