/// A rule for the signals that the bus shall pass on.
package struct MatchRule: Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package init(
        sender: String, path: String? = nil, interface: String, member: String? = nil, arguments: [(Int, String)] = []
    ) {
        var text = "type='signal',sender=\(Self.quoted(sender)),interface=\(Self.quoted(interface))"
        if let path { text += ",path=\(Self.quoted(path))" }
        if let member { text += ",member=\(Self.quoted(member))" }
        for (index, value) in arguments { text += ",arg\(index)=\(Self.quoted(value))" }
        description = text
    }
    /// The D-Bus specification's "Match Rules": within apostrophes nothing is special but the apostrophe, which ends
    /// them.
    private static func quoted(_ value: String) -> String {
        var text = "'"
        // Scalars: a combining mark after the apostrophe makes another character of it.
        for scalar in value.unicodeScalars {
            if scalar == "'" { text += #"'\''"# } else { text.unicodeScalars.append(scalar) }
        }
        return text + "'"
    }
    /// Changes of the owner of a name.
    package static func owner(of name: String) -> Self {
        Self(
            sender: "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus",
            member: "NameOwnerChanged", arguments: [(0, name)])
    }
    /// Whose connection ended.
    package static let departures = Self(
        sender: "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus",
        member: "NameOwnerChanged", arguments: [(2, "")])
}

/// The match rules that the bus has of a connection, as a value: each is there once, however often it was asked for.
struct MatchTable {
    typealias Completion = PendingCalls.Completion
    private struct Entry {
        var count: Int
        let request: UInt64
        var reply: BusReply?
    }
    private var entries: [MatchRule: Entry] = [:]
    private var waiting: [UInt64: [Completion]] = [:]
    private var lastRequest: UInt64 = 0

    enum Addition {
        /// Send `AddMatch`, and call `answered`.
        case ask(request: UInt64)
        /// It is on its way: the completion comes with the answer.
        case wait
        /// The bus has it already: this was its answer.
        case known(BusReply)
    }

    var counts: [MatchRule: Int] { entries.mapValues(\.count) }
    /// Whether a request that got no answer is still wanted: then it is repeated.
    func repeats(_ request: UInt64, _ rule: MatchRule) -> Bool { entries[rule]?.request == request }

    mutating func add(_ rule: MatchRule, _ completion: @escaping Completion) -> Addition {
        if let entry = entries[rule] {
            entries[rule]?.count += 1
            if let reply = entry.reply { return .known(reply) }
            waiting[entry.request, default: []].append(completion)
            return .wait
        }
        lastRequest += 1
        entries[rule] = Entry(count: 1, request: lastRequest)
        waiting[lastRequest] = [completion]
        return .ask(request: lastRequest)
    }
    /// True when it was the last use: send `RemoveMatch`.
    mutating func remove(_ rule: MatchRule) -> Bool {
        guard let count = entries[rule]?.count else { return false }
        if count > 1 {
            entries[rule]?.count = count - 1
            return false
        }
        entries[rule] = nil
        return true
    }
    /// Whom to notify of the answer. A rule that the bus refused belongs to nobody: the next request for it asks the
    /// bus.
    mutating func answered(_ request: UInt64, _ rule: MatchRule, _ reply: BusReply?) -> [Completion] {
        if entries[rule]?.request == request {
            if let reply { entries[rule]?.reply = reply } else { entries[rule] = nil }
        }
        return waiting.removeValue(forKey: request) ?? []
    }
    /// Ends all requests.
    mutating func close() -> [Completion] {
        defer { (entries, waiting) = ([:], [:]) }
        return waiting.sorted { $0.key < $1.key }.flatMap(\.value)
    }
}
