import RelayWire

/// Documents on the bus: `GetDocument`, and the properties of their interface.
final class DocumentAnswers: Sendable {
    private let calls: CommandCalls
    private let replies: ReplySender

    init(_ calls: CommandCalls, _ replies: ReplySender) { (self.calls, self.replies) = (calls, replies) }

    /// Answers `GetDocument`, in the place among the entries where the answer is true.
    func document(_ call: IncomingCall, _ interface: ExportedInterface) {
        let name = call.read { try $0.string() }
        guard let name, let number = interface.book.number(of: name), let property = interface.book.properties[number]
        else {
            let names = interface.book.names.joined(separator: ", ")
            let text =
                "\(interface.name) has no document '\(name?.prefix(255) ?? "")'; "
                + (names.isEmpty ? "it has none" : "it has \(names)")
            return replies.fail(call, .notFound, text)
        }
        let schema = interface.schema(of: name)
        whenRead(call, interface, [number], isOne: true) { replies, entries in
            guard let entry = entries.first?.entry else { return }
            let snapshot = DocumentSnapshot(
                version: DocumentVersion(epoch: interface.stream.epoch, sequence: entry.sequence), schema: schema,
                signature: "\(property.signature)", fields: entry.fields)
            replies.reply(to: call, Stream1.documentSignature, capacity: entry.fields.count + 64) {
                body throws(RelayError) in
                try Stream1.write(snapshot, into: &body)
            }
        }
    }
    /// Answers `Get` of a document; or `GetAll`, if no name is given: with `others` before the documents.
    func properties(
        _ call: IncomingCall, _ interface: ExportedInterface, _ name: String?,
        _ others: [(name: String, value: DBusValue)]
    ) {
        let properties = interface.book.properties
        let asked = properties.filter { name == nil || $0.value.name == name }.map(\.key).sorted()
        whenRead(call, interface, asked, isOne: name != nil) { replies, entries in
            replies.reply(to: call, name == nil ? "a{sv}" : "v") { body throws(RelayError) in
                if name != nil {
                    for (number, entry) in entries { properties[number]?.write(entry.fields, into: &body) }
                    return
                }
                let array = body.beginArray(elementAlignment: 8)
                for (name, value) in others {
                    body.align(8)
                    try body.string(name)
                    try body.value(.variant(value), as: .variant)
                }
                for (number, entry) in entries {
                    guard let property = properties[number] else { continue }
                    body.align(8)
                    try body.string(property.name)
                    property.write(entry.fields, into: &body)
                }
                try body.endArray(array)
            }
        }
    }
    /// Answers with documents as they are at one moment: in the queue of the peer's commands, when it has read enough of
    /// what it got before.
    ///
    /// - Parameter isOne: one is asked for by its name: it is refused if its state is not known. Of several, the others
    ///   are answered.
    private func whenRead(
        _ call: IncomingCall, _ interface: ExportedInterface, _ numbers: [Int], isOne: Bool,
        _ answer: @escaping @Sendable (ReplySender, [(number: Int, entry: PublishedDocuments.Entry)]) -> Void
    ) {
        calls.enqueueForUser(call) { [replies] in
            let (stream, book) = (interface.stream, interface.book)
            let size = numbers.reduce(1_024) { $0 + (book[$1]?.fields.count ?? 0) + 512 }
            if size > WireLimits.defaultMessageLength {
                let text = "\(interface.name) has documents of \(size) bytes together: ask for each by its name"
                return replies.fail(call, .tooLarge, text)
            }
            guard await replies.hasRoom(for: call, bytes: size) else {
                return replies.fail(call, .limitsExceeded, "the replies before this one are unread")
            }
            replies.prepareReply(to: call.sender)
            // Under the stream's lock: the reply is behind every entry that it counts, and before every later one.
            stream.inPlace {
                let entries = numbers.compactMap { number in book[number].map { (number, $0) } }
                if isOne && entries.isEmpty {
                    let name = numbers.first.flatMap { book.properties[$0]?.name } ?? ""
                    let text =
                        "the state of \(interface.name).\(name) is not known here before its next change: wait for that"
                    return replies.fail(call, .unavailable, text)
                }
                answer(replies, entries)
            }
        }
    }
    /// Whether a call submits a document that is read only; refuses it then.
    func refusesSubmission(_ call: IncomingCall, _ interface: ExportedInterface?) -> Bool {
        let isMeant = interface?.book.names.contains { call.member == "Submit\($0)" } ?? false
        if isMeant {
            replies.refuse(call, .notPermitted, "\(call.member.dropFirst(6)) is read only: its service alone sets it")
        }
        return isMeant
    }
}
