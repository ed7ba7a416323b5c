/// Asks a running service what an interface of it is, on a connection of its own.
final class ServiceInquiry: BusHandler {
    func signal(_ message: borrowing ReceivedMessage) {}
    func methodCall(_ call: IncomingCall) {}
    func disconnected(_ reason: RelayError) {}

    static func record(of interface: String, _ service: String, on bus: Bus) async throws -> ContractRecord {
        try BusNames.check(service, as: .busName)
        try BusNames.check(interface, as: .interface)
        let loop = try BusLoop(name: "inquiry")
        defer { loop.stop() }
        let handler = ServiceInquiry()
        let connection = try await BusConnection.connect(to: bus, on: loop, handler: handler)
        defer { withExtendedLifetime(handler) { connection.close() } }
        func ask(_ member: String, of other: String) async throws -> BusReply {
            try await connection.call(
                MethodCall(
                    to: service, path: Stream1.path(of: interface), interface: other, member: member,
                    signature: .empty, body: []))
        }
        let schemas = try await ask("Schemas", of: Stream1.name).read(Stream1.schemasSignature) {
            try Stream1.readSchemas(&$0)
        }
        let text = try await ask("Introspect", of: StandardInterfaces.introspectable.name).read("s") {
            try $0.string()
        }
        return ContractRecord(events: events(schemas), commands: IntrospectedCommands.read(text, of: interface))
    }
    /// Of several with one name the highest is the present one.
    private static func events(_ schemas: [UInt32: EventSchema]) -> [String: ContractRecord.Event] {
        let sorted = schemas.sorted { $0.key < $1.key }.map(\.value)
        return Dictionary(grouping: sorted, by: \.event).compactMapValues { versions in
            versions.last.map { ContractRecord.Event(present: $0, kept: [$0]) }
        }
    }
}

/// The methods of an interface in introspection data: their signatures alone.
///
/// Reads as much XML as that takes, and nothing that it does not understand: the text may be anything.
enum IntrospectedCommands {
    static func read(_ text: String, of interface: String) -> [String: ContractRecord.Command] {
        var commands: [String: ContractRecord.Command] = [:]
        var (isWithin, method, input, output): (Bool, String?, String, String) = (false, nil, "", "")
        func finish() {
            if let method { commands[method] = ContractRecord.Command(input: input, output: output) }
            (method, input, output) = (nil, "", "")
        }
        for tag in tags(text) {
            switch tag.name {
            case "interface": isWithin = tag.attributes["name"] == interface
            case "/interface":
                finish()
                isWithin = false
            case "method" where isWithin:
                finish()
                method = tag.attributes["name"]
                if tag.isClosed { finish() }
            case "/method": finish()
            case "arg" where method != nil:
                // Of a method, "in" is what is meant without a word.
                let type = tag.attributes["type"] ?? ""
                if tag.attributes["direction"] == "out" { output += type } else { input += type }
            default: break
            }
        }
        return commands
    }
    private struct Tag {
        let name: String
        let attributes: [String: String]
        let isClosed: Bool
    }
    private static func tags(_ text: String) -> [Tag] {
        var (tags, rest): ([Tag], Substring) = ([], text[...])
        while let start = rest.firstIndex(of: "<") {
            rest = rest[rest.index(after: start)...]
            if rest.hasPrefix("!--") {
                guard let end = rest.end(of: "-->") else { break }
                rest = rest[end...]
                continue
            }
            guard let (tag, behind) = tag(rest) else { break }
            tags.append(tag)
            rest = behind
        }
        return tags
    }
    /// The tag that begins here, and what follows it; nil if it has no end.
    private static func tag(_ text: Substring) -> (Tag, Substring)? {
        var rest = text
        let name = rest.prefix { !$0.isWhitespace && $0 != ">" }
        rest = rest[name.endIndex...]
        var (attributes, isClosed): ([String: String], Bool) = ([:], name.hasSuffix("/"))
        while true {
            rest = rest.drop { $0.isWhitespace }
            guard let next = rest.first else { return nil }
            if next == ">" {
                let plain = name.hasSuffix("/") && name.count > 1 ? name.dropLast() : name
                return (Tag(name: String(plain), attributes: attributes, isClosed: isClosed), rest.dropFirst())
            }
            if next == "/" || next == "?" {
                isClosed = true
                rest = rest.dropFirst()
                continue
            }
            let key = rest.prefix { !$0.isWhitespace && $0 != "=" && $0 != ">" }
            rest = rest[key.endIndex...].drop { $0.isWhitespace }
            guard rest.first == "=" else {
                // Words without a value, as in a document type.
                if key.isEmpty { rest = rest.dropFirst() }
                continue
            }
            rest = rest.dropFirst().drop { $0.isWhitespace }
            guard let quote = rest.first, quote == "\"" || quote == "'" else { return nil }
            rest = rest.dropFirst()
            guard let end = rest.firstIndex(of: quote) else { return nil }
            attributes[String(key)] = String(rest[..<end])
            rest = rest[rest.index(after: end)...]
        }
    }
}

extension Substring {
    /// Where a text ends that is in it; Foundation has such a function, and this module has no Foundation.
    fileprivate func end(of text: String) -> Index? {
        var index = startIndex
        while index < endIndex {
            if self[index...].hasPrefix(text) { return self.index(index, offsetBy: text.count) }
            index = self.index(after: index)
        }
        return nil
    }
}
