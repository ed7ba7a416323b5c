import RelayCore

/// An interface as anybody would write it: volatile, all else by default. Sparse events go by the ring and as signals.
enum Lanes1: EventInterface {
    static let name = "org.eventrelay.Lanes1"
    static let durability = Volatile()
    static var contract: Contract<Self> {
        Fixed64<Self>.self
        Fixed256<Self>.self
        Fixed1024<Self>.self
        Block<Self>.self
        Reading<Self>.self
    }
}

/// The same without a ring, and with every event as a signal.
enum Signals1: EventInterface {
    static let name = "org.eventrelay.Signals1"
    static let durability = Volatile()
    static let signalBudget = SignalBudget.unlimited
    static let ringCapacity = 0
    static var contract: Contract<Self> {
        Fixed64<Self>.self
        Fixed256<Self>.self
        Fixed1024<Self>.self
        Block<Self>.self
        Reading<Self>.self
    }
}

/// The same in a stream that is above its signal budget, at any rate: signals are paused after the first event.
enum Quiet1: EventInterface {
    static let name = "org.eventrelay.Quiet1"
    static let durability = Volatile()
    static let signalBudget = SignalBudget.perSecond(1, burst: 1)
    static var contract: Contract<Self> {
        Fixed64<Self>.self
        Fixed256<Self>.self
        Fixed1024<Self>.self
        Block<Self>.self
        Reading<Self>.self
    }
}
