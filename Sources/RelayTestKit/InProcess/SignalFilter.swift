import RelayCore
import RelayWire

/// A match rule as a bus understands it: `type='signal',sender='…',arg0='…'`.
struct SignalFilter: Sendable {
    let text: String
    private var sender: String?
    private var path: String?
    private var interface: String?
    private var member: String?
    private var arguments: [Int: String] = [:]

    /// Nil for one that no bus of a test needs: with a key that is not known, or for other messages than signals.
    init?(_ text: String) {
        self.text = text
        var rest = text[...]
        while !rest.isEmpty {
            guard let equals = rest.firstIndex(of: "=") else { return nil }
            let key = rest[..<equals]
            rest = rest[rest.index(after: equals)...]
            // Within apostrophes, as all of ours are; the names in them have none.
            guard rest.first == "'", let end = rest.dropFirst().firstIndex(of: "'") else { return nil }
            let value = String(rest[rest.index(after: rest.startIndex)..<end])
            rest = rest[rest.index(after: end)...]
            if rest.first == "," { rest = rest.dropFirst() }
            switch key {
            case "type": if value != "signal" { return nil }
            case "sender": sender = value
            case "path": path = value
            case "interface": interface = value
            case "member": member = value
            default:
                guard key.hasPrefix("arg"), let number = Int(key.dropFirst(3)) else { return nil }
                arguments[number] = value
            }
        }
    }

    /// - Parameter senders: all names that the sender has.
    func admits(_ message: LinkedMessage, _ senders: [String]) -> Bool {
        func fits(_ wanted: String?, _ value: String?) -> Bool { wanted == nil || wanted == value }
        guard sender.map({ senders.contains($0) }) ?? true, fits(path, message.path),
            fits(interface, message.interface), fits(member, message.member)
        else { return false }
        if arguments.isEmpty { return true }
        guard let signature = try? Signature(message.signature),
            let values = message.body.withUnsafeBytes({ try? DBusValue.decode(signature: signature, body: $0) })
        else { return false }
        return arguments.allSatisfy { number, text in
            values.indices.contains(number) && values[number] == .string(text)
        }
    }
}
