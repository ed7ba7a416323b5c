import RelayCore

/// What a server has answered. Volatile: the times are of interest while they are new.
public enum Requests1: EventInterface {
    public static let name = "org.example.Requests1"
    public static let durability = Volatile()
    public static var contract: Contract<Self> { RequestAnswered.self }
}

/// Numbers alone: the ring holds them as they are, without encoding.
public struct RequestAnswered: FixedLayoutEvent {
    public typealias Interface = Requests1
    public let microseconds: UInt32, status: UInt32
    public init(microseconds: UInt32, status: UInt32) { (self.microseconds, self.status) = (microseconds, status) }
}
