import RelayCore

/// What is replayed, and what is published meanwhile.
enum Past1: EventInterface {
    static let name = "org.eventrelay.bench.Past1"
    static let service = "org.eventrelay.bench.Past"
    static var contract: Contract<Self> {
        Shelved.self
        Publish.self
    }
}
struct Shelved: DomainEvent {
    typealias Interface = Past1
    var itemID: Int64
    var boxID: Int64
    var title: String
}
/// Publishes events, each a unit of work of its own, from so many tasks at once; replies with how long it took.
struct Publish: Command {
    typealias Interface = Past1
    var count: Int64
    var publishers: Int64
    /// Of all of them together, at the most; 0: as many as they can.
    var perSecond: Int64
    struct Reply: Codable, Sendable { var microseconds: Int64 }
}
