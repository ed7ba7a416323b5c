import RelayCore

/// What the relays follow: an interface as anybody would write it, volatile, with a ring.
enum Followed1: EventInterface {
    static let name = "org.eventrelay.bench.Followed1"
    static let service = "org.eventrelay.bench.Followed"
    static var durability: Volatile { Volatile() }
    static var contract: Contract<Self> { Moved.self }
}
struct Moved: DomainEvent, FixedLayoutEvent {
    typealias Interface = Followed1
    var number: UInt64
    var x = 0.0
    var y = 0.0
    var at: UInt64 = 0
}
