import RelayCore

/// What command-bench calls: a method that takes a string, and returns it.
enum BenchCalls1: EventInterface {
    static let name = "org.eventrelay.BenchCalls1"
    static let durability = Volatile()
    static var contract: Contract<Self> { Echo.self }
}
struct Echo: Command {
    typealias Interface = BenchCalls1
    let text: String
    struct Reply: Codable, Sendable { let text: String }
}

/// The same, and the string is committed with an event before it is returned.
enum BenchKept1: EventInterface {
    static let name = "org.eventrelay.BenchKept1"
    /// Each event also as a signal, as sdbus-peer's: it has no ring to announce events by.
    static let signalBudget = SignalBudget.unlimited
    static let ringCapacity = 0
    @ContractBuilder<Self> static var contract: Contract<Self> {
        Stored.self
        Keep.self
    }
}
struct Stored: DomainEvent {
    typealias Interface = BenchKept1
    let number: Int64
    let text: String
}
struct Keep: Command {
    typealias Interface = BenchKept1
    let text: String
    struct Reply: Codable, Sendable { let text: String }
}
