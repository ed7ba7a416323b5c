/// What is called, by how many, and what happens meanwhile.
struct Load: Hashable, Codable, CustomStringConvertible {
    enum Kind: String, Codable {
        /// A short text, returned by a trivial handler.
        case volatile
        /// The same text is committed with an event first.
        case durable
        /// Events of the same service reach subscribers meanwhile.
        case beside
    }
    let kind: Kind
    /// Processes, each with a connection of its own.
    let callers: Int
    /// Calls in flight, of each caller.
    let flight: Int

    /// Of `beside`.
    static let subscribers = 64
    static let eventsPerSecond = 50

    static let all = [
        Load(kind: .volatile, callers: 1, flight: 1), Load(kind: .volatile, callers: 1, flight: 8),
        Load(kind: .volatile, callers: 1, flight: 64), Load(kind: .volatile, callers: 8, flight: 1),
        Load(kind: .volatile, callers: 8, flight: 8), Load(kind: .volatile, callers: 64, flight: 1),
        Load(kind: .durable, callers: 1, flight: 1), Load(kind: .durable, callers: 1, flight: 64),
        Load(kind: .durable, callers: 8, flight: 1), Load(kind: .beside, callers: 1, flight: 1),
    ]

    var contenders: [Contender] {
        switch kind {
        case .volatile: Contender.allCases
        // Which D-Bus library carries it matters little beside a commit.
        case .durable: [.relay, .sdbus]
        case .beside: [.relay, .sdbus, .libdbus, .gdbus]
        }
    }
    var description: String {
        let command = kind == .durable ? "a durable command" : "a command"
        let who = callers == 1 ? "one caller" : "\(callers) callers"
        let how = flight == 1 ? "one after the other" : "\(flight) in flight"
        let meanwhile =
            kind == .beside ? ", while \(Self.subscribers) subscribers get \(Self.eventsPerSecond) events/s" : ""
        return "\(command), \(who), \(callers > 1 ? "each " : "")\(how)\(meanwhile)"
    }
    /// For a narrow table.
    var shortName: String {
        let kinds = [Kind.durable: "durable: ", .beside: "\(Self.subscribers) subscribers: "]
        let who = callers == 1 ? "one caller" : "\(callers) callers"
        let how = flight == 1 ? (callers == 1 ? "one after the other" : "one call each") : "\(flight) in flight"
        return "\(kinds[kind] ?? "")\(who), \(how)\(callers > 1 && flight > 1 ? " each" : "")"
    }
}
