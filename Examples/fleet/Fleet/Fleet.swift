import RelayCore

/// What a unit of the fleet measures. Numbers alone: a ring holds them as they are, and as a signal they are two
/// arguments.
public protocol Sample: FixedLayoutEvent {
    /// The unit's own count, from 1: so that a dashboard can prove that it saw each once.
    var number: UInt64 { get }
    var celsius: Double { get }
    init(number: UInt64, celsius: Double)
}

/// Samples that relays read from a ring. Volatile: they are kept nowhere, and what is missed is a gap.
public enum RingTelemetry1: EventInterface {
    public static let name = "org.example.fleet.RingTelemetry1"
    public static let durability = Volatile()
    public static var contract: Contract<Self> { RingSampled.self }
}
public struct RingSampled: Sample {
    public typealias Interface = RingTelemetry1
    public static let name = "Sampled"
    public let number: UInt64, celsius: Double
    public init(number: UInt64, celsius: Double) { (self.number, self.celsius) = (number, celsius) }
}

/// The same without a ring: everybody gets the samples as D-Bus signals, of which 2,000 a second are within the budget.
public enum SignalTelemetry1: EventInterface {
    public static let name = "org.example.fleet.SignalTelemetry1"
    public static let durability = Volatile()
    public static let ringCapacity = 0
    public static var contract: Contract<Self> { SignalSampled.self }
}
public struct SignalSampled: Sample {
    public typealias Interface = SignalTelemetry1
    public static let name = "Sampled"
    public let number: UInt64, celsius: Double
    public init(number: UInt64, celsius: Double) { (self.number, self.celsius) = (number, celsius) }
}

/// What a unit writes down. Durable: it is there after the unit, and on other hosts, where a mirror has it.
public enum UnitLog1: EnumInterface {
    case started(UnitStarted), overheated(UnitOverheated)

    public static let name = "org.example.fleet.UnitLog1"
    public static var contract: Contract<Self> {
        started
        overheated
    }
}
public struct UnitStarted: DomainEvent, Hashable {
    public typealias Interface = UnitLog1
    public let unit: Int32
    public init(unit: Int32) { self.unit = unit }
}
public struct UnitOverheated: DomainEvent, Hashable {
    public typealias Interface = UnitLog1
    public let unit: Int32
    public let celsius: Double
    public init(unit: Int32, celsius: Double) { (self.unit, self.celsius) = (unit, celsius) }
}

/// One service of the fleet. Every other one has a ring.
public struct FleetUnit: Hashable, Sendable {
    public let index: Int
    public init(_ index: Int) { self.index = index }
    public static func all(_ count: Int) -> [FleetUnit] { (0..<count).map(FleetUnit.init) }

    public var service: String { "org.example.fleet.Unit\(index)" }
    public var hasRing: Bool { index % 2 == 0 }
}
