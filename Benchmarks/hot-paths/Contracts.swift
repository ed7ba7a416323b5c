import RelayCore

/// Above its signal budget from the second event on: by the ring alone.
enum Paused1: EventInterface {
    static let name = "org.eventrelay.Paused1"
    static let durability = Volatile()
    static let signalBudget = SignalBudget.perSecond(1, burst: 1)
    @ContractBuilder<Self> static var contract: Contract<Self> {
        Fixed.self
        Coded.self
    }
}
/// Without a ring: by signals alone.
enum Signals1: EventInterface {
    static let name = "org.eventrelay.Signals1"
    static let durability = Volatile()
    static let signalBudget = SignalBudget.unlimited
    static let ringCapacity = 0
    static var contract: Contract<Self> { Signalled.self }
}
/// By the ring, and as signals too.
enum Both1: EventInterface {
    static let name = "org.eventrelay.Both1"
    static let durability = Volatile()
    static let signalBudget = SignalBudget.unlimited
    static var contract: Contract<Self> { Doubled.self }
}
enum Kept1: EventInterface {
    static let name = "org.eventrelay.Kept1"
    static var contract: Contract<Self> { Kept.self }
}
enum Commands1: EventInterface {
    static let name = "org.eventrelay.Commands1"
    static let durability = Volatile()
    static var contract: Contract<Self> { Add.self }
}

/// An event that counts.
protocol NumberedEvent: DomainEvent where Interface.Durability == Volatile {
    var number: UInt64 { get set }
}
/// 64 bytes.
struct Fixed: FixedLayoutEvent, NumberedEvent {
    typealias Interface = Paused1
    var number: UInt64 = 0, b = 1.0, c = 2.0, d = 3.0
    var e: UInt64 = 4, f: UInt64 = 5, g: UInt64 = 6, h: UInt64 = 7
}
struct Doubled: FixedLayoutEvent, NumberedEvent {
    typealias Interface = Both1
    var number: UInt64 = 0, b = 1.0, c = 2.0, d = 3.0
}
struct Coded: NumberedEvent {
    typealias Interface = Paused1
    var number: UInt64 = 0, value = 1.5, minimum: Int64 = -1, kind: Int32 = 4, place = "boiler/pressure"
}
struct Signalled: NumberedEvent {
    typealias Interface = Signals1
    var number: UInt64 = 0, value = 1.5, minimum: Int64 = -1, kind: Int32 = 4, place = "boiler/pressure"
}
struct Kept: DomainEvent {
    typealias Interface = Kept1
    var itemID: Int64, boxID: Int64, title: String

    init(_ number: Int) { (itemID, boxID, title) = (Int64(number), Int64(number % 100), "Cast-iron frying pan") }
}
struct Add: Command {
    typealias Interface = Commands1
    var first: Int64, second: Int64
    struct Reply: Codable, Sendable { var sum: Int64 }
}

enum Jobs1: EventInterface {
    static let name = "org.eventrelay.Jobs1"
    static var contract: Contract<Self> {
        Enter.self
        Entered.self
    }
}
struct Enter: Command {
    typealias Interface = Jobs1
    var title: String
    struct Reply: Codable, Sendable { var id: Int64 }
}
struct Entered: DomainEvent {
    typealias Interface = Jobs1
    var id: Int64, title: String
}
