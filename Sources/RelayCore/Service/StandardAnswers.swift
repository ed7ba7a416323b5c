import RelayWire

/// The interfaces that D-Bus has for every object.
final class StandardAnswers: Sendable {
    private let gate: CallGate
    private let documents: DocumentAnswers
    private let replies: ReplySender

    init(_ gate: CallGate, _ documents: DocumentAnswers, _ replies: ReplySender) {
        (self.gate, self.documents, self.replies) = (gate, documents, replies)
    }
    func introspect(_ call: IncomingCall, _ place: ObjectTree.Place) {
        guard call.member == "Introspect" else { return replies.unknown(call) }
        guard replies.hasSignature("", call), let signature = try? Signature("s") else { return }
        replies.reply(to: call, signature, body: place.introspection)
    }
    func peer(_ call: IncomingCall) {
        guard ["Ping", "GetMachineId"].contains(call.member) else { return replies.unknown(call) }
        guard replies.hasSignature("", call) else { return }
        if call.member == "Ping" { return replies.reply(to: call) }
        guard let id = MachineID.read() else {
            return replies.fail(call, .notFound, "this machine has no id")
        }
        replies.reply(to: call, [.string(id)])
    }
    func properties(_ call: IncomingCall, _ interface: ExportedInterface) {
        let expected = ["Get": "ss", "GetAll": "s", "Set": "ssv"]
        guard let signature = expected[call.member] else { return replies.unknown(call) }
        guard replies.hasSignature(signature, call) else { return }
        let arguments: [DBusValue]
        do throws(RelayError) {
            arguments = try DBusValue.decode(signature: try Signature(signature), body: call.body)
        } catch {
            return replies.fail(call, ErrorNames.invalidArgs, error.message)
        }
        guard case .string(let asked)? = arguments.first else { return }
        if answersDocuments(call, asked, arguments, interface) { return }
        guard [interface.name, Stream1.name, ""].contains(asked) else {
            return properties(call, asked, arguments, [], interface)
        }
        // How far an interface has come is for those that may have its events.
        gate.ifPermitted(call, interface) { [weak self] in
            let values = asked == interface.name ? [] : Self.values(of: interface)
            self?.properties(call, asked, arguments, values, interface)
        }
    }
    /// Whether a call is about documents, which are then answered for.
    private func answersDocuments(
        _ call: IncomingCall, _ asked: String, _ arguments: [DBusValue], _ interface: ExportedInterface
    ) -> Bool {
        let names = interface.book.names
        guard asked == interface.name || asked.isEmpty, !names.isEmpty else { return false }
        var name: String?
        if call.member != "GetAll" {
            guard case .string(let text) = arguments[1], names.contains(text) else { return false }
            name = text
        }
        if call.member == "Set" {
            replies.fail(call, ErrorNames.propertyReadOnly, "\(name ?? "") cannot be set: submit it, if it is editable")
            return true
        }
        gate.ifPermitted(call, interface) { [name, weak self] in
            let others = asked.isEmpty ? Self.values(of: interface) : []
            self?.documents.properties(call, interface, name, others)
        }
        return true
    }
    private func properties(
        _ call: IncomingCall, _ asked: String, _ arguments: [DBusValue], _ all: [(name: String, value: DBusValue)],
        _ interface: ExportedInterface
    ) {
        let isKnown =
            asked.isEmpty || [interface.name, Stream1.name].contains(asked)
            || ObjectTree.common.contains { $0.name == asked }
        guard isKnown else {
            return replies.fail(call, ErrorNames.unknownInterface, "\(call.path) has no interface '\(asked)'")
        }
        if call.member == "GetAll" {
            let entries = all.map { DBusValue.Entry(key: .string($0.name), value: .variant($0.value)) }
            return replies.reply(to: call, [.dictionary(.dictionary(.string, .variant), entries)])
        }
        guard case .string(let name) = arguments[1], let property = all.first(where: { $0.name == name }) else {
            return replies.fail(call, ErrorNames.unknownProperty, "'\(asked)' has no such property")
        }
        if call.member == "Set" {
            return replies.fail(call, ErrorNames.propertyReadOnly, "\(name) cannot be set")
        }
        replies.reply(to: call, [.variant(property.value)])
    }
    private static func values(of interface: ExportedInterface) -> [(name: String, value: DBusValue)] {
        [
            ("Epoch", .uint64(interface.stream.epoch)), ("Durability", .string(interface.durability)),
            ("Sequence", .uint64(interface.stream.sequence)),
        ]
    }
}
