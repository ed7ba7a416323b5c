import RelayCore

/// The cold store's thermometer. Volatile: a measurement is of interest while it is new.
public enum Climate1: EventInterface {
    public static let name = "org.example.shop.Climate1"
    public static let durability = Volatile()
    public static var contract: Contract<Self> { TemperatureMeasured.self }
}

/// Numbers alone: the ring holds them as they are, without encoding.
public struct TemperatureMeasured: FixedLayoutEvent {
    public typealias Interface = Climate1
    public let celsius: Double, sensor: UInt64
    public init(celsius: Double, sensor: UInt64) { (self.celsius, self.sensor) = (celsius, sensor) }
}
