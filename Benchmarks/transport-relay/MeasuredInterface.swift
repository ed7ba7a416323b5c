import RelayCore

/// What every measured interface carries: the same events, kept nowhere.
protocol MeasuredInterface: EventInterface where Durability == Volatile {}

extension MeasuredInterface {
    static var durability: Volatile { Volatile() }
    @ContractBuilder<Self> static var contract: Contract<Self> {
        Fixed64<Self>.self
        FixedWords<Self, 32>.self
        FixedWords<Self, 128>.self
        FixedWords<Self, 512>.self
        Block<Self>.self
        Reading<Self>.self
    }
}

/// An interface as anybody would write it: volatile, all else by default. Sparse events go by the ring and as signals.
enum Streams1: MeasuredInterface {
    static let name = "org.eventrelay.Streams1"
}

/// The same without a ring, and with every event as a signal.
enum Signals1: MeasuredInterface {
    static let name = "org.eventrelay.Signals1"
    static let signalBudget = SignalBudget.unlimited
    static let ringCapacity = 0
}

/// The same in a stream that is above its signal budget, at any rate: signals are paused after the first event.
enum Quiet1: MeasuredInterface {
    static let name = "org.eventrelay.Quiet1"
    static let signalBudget = SignalBudget.perSecond(1, burst: 1)
}
