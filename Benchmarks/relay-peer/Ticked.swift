import RelayCore

/// The benchmark's interface: what the C peers send by hand.
enum Bench1: EventInterface {
    static let name = "org.eventrelay.Bench1"
    static let durability = Volatile()
    /// All of them as signals, and by no other transport: these are what is measured.
    static let signalBudget = SignalBudget.unlimited
    static let ringCapacity = 0
    static var contract: Contract<Self> { Ticked.self }
}

/// With its stamp, the same body as the C peers': `ttsx` and `ttt`.
struct Ticked: DomainEvent {
    typealias Interface = Bench1
    let number: UInt64
    let sentAt: UInt64
    let text: String
    let a: Int64
}
