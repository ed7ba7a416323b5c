import RelayTestKit
import Testing

@testable import RelayCore
import RelayWire

/// What a relay and a service of one version of the protocol said to each other: messages, as they were on the wire.
struct Recording {
    struct Message {
        var signature: String
        var body: [UInt8]

        func values() throws -> [DBusValue] {
            try DBusValue.decode(signature: Signature(signature), body: body)
        }
        /// The same arguments, the last one changed.
        func changingLast(_ change: (DBusValue) -> DBusValue) throws -> Self {
            var values = try values()
            values.append(change(values.removeLast()))
            var writer = WireWriter()
            try DBusValue.encode(values, into: &writer)
            return Self(signature: signature, body: writer.bytes)
        }
    }
    enum Answer {
        case reply(Message)
        case error(name: String, Message)
    }
    struct Call {
        let interface: String
        let member: String
        var message: Message
        var answer: Answer
    }
    struct Signal {
        let interface: String
        let member: String
        let message: Message
    }
    var calls: [Call] = []
    var signals: [Signal] = []

    func call(_ member: String) throws -> Call { try #require(calls.first { $0.member == member }) }
    func signal(_ member: String) throws -> Signal { try #require(signals.first { $0.member == member }) }

    // MARK: Text

    var text: String {
        var lines: [String] = []
        for call in calls {
            lines.append("call \(call.interface) \(call.member) \(Self.text(call.message))")
            switch call.answer {
            case .reply(let message): lines.append("reply \(Self.text(message))")
            case .error(let name, let message): lines.append("error \(name) \(Self.text(message))")
            }
        }
        for signal in signals {
            lines.append("signal \(signal.interface) \(signal.member) \(Self.text(signal.message))")
        }
        return lines.map { $0 + "\n" }.joined()
    }
    private static func text(_ message: Message) -> String {
        func hexadecimal(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16) }
        let body = message.body.map(hexadecimal).joined()
        return "\(message.signature.isEmpty ? "-" : message.signature) \(body.isEmpty ? "-" : body)"
    }
    init() {}
    init(parsing text: String) throws {
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: " ").map(String.init)
            func message(_ index: Int) throws -> Message {
                try #require(parts.count == index + 2, "\(line)")
                let digits = parts[index + 1] == "-" ? [] : Array(parts[index + 1].utf8)
                let body = try stride(from: 0, to: digits.count, by: 2).map { start in
                    try #require(UInt8(String(decoding: digits[start..<start + 2], as: UTF8.self), radix: 16))
                }
                return Message(signature: parts[index] == "-" ? "" : parts[index], body: body)
            }
            switch parts[0] {
            case "call":
                let none = Answer.reply(Message(signature: "", body: []))
                calls.append(Call(interface: parts[1], member: parts[2], message: try message(3), answer: none))
            case "reply": calls[calls.count - 1].answer = .reply(try message(1))
            case "error": calls[calls.count - 1].answer = .error(name: parts[1], try message(2))
            case "signal":
                signals.append(Signal(interface: parts[1], member: parts[2], message: try message(3)))
            default: Issue.record("no line of a recording: \(line)")
            }
        }
    }

    // MARK: What others may say

    /// How the growing part of `Attach` differs from what was recorded.
    enum Growth: CaseIterable {
        case none
        /// As from a peer that says nothing of itself.
        case bare
        /// As from a later version: other keys, features and types.
        case more
        /// Known keys have other types.
        case retyped

        func change(_ options: DBusValue) -> DBusValue {
            guard case .dictionary(let type, var entries) = options else { return options }
            func entry(_ key: String, _ value: DBusValue) -> DBusValue.Entry {
                DBusValue.Entry(key: .string(key), value: .variant(value))
            }
            switch self {
            case .none: break
            case .bare: entries = []
            case .more:
                entries = entries.map { known in
                    guard known.key == .string("features"), case .variant(.array(let type, let names)) = known.value
                    else { return known }
                    return entry("features", .array(type, [.string("Ω"), .string("")] + names))
                }
                entries.insert(entry("", .structure([.variant(.bytes([1, 2])), .double(1)])), at: 0)
                entries.append(entry("areas", .array(.string, [])))
            case .retyped: entries = [entry("features", .string("runs")), entry("runs", .array(.uint64, [.uint64(1)]))]
            }
            return .dictionary(type, entries)
        }
        /// What the other side takes the sender to be able to do.
        var features: Set<StreamFeature> { self == .none || self == .more ? [.runs] : [] }
    }
    func grown(_ growth: Growth) throws -> Recording {
        var grown = self
        for index in grown.calls.indices where grown.calls[index].member == "Attach" {
            grown.calls[index].message = try grown.calls[index].message.changingLast(growth.change)
            if case .reply(let message) = grown.calls[index].answer {
                grown.calls[index].answer = .reply(try message.changingLast(growth.change))
            }
        }
        return grown
    }
}
