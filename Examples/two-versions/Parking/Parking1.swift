import RelayCore

/// A car park, as it was first released: places have numbers, such as 207.
public enum Parking1: EventInterface {
    public static let name = "org.example.Parking1"
    public static var contract: Contract<Self> {
        CarParked.self
        CarLeft.self
        ParkCar.self
        LeavePlace.self
        FreePlaces.self
    }
    public struct CarParked: DomainEvent {
        public typealias Interface = Parking1
        public let place: Int32
        public init(place: Int32) { self.place = place }
    }
    public struct CarLeft: DomainEvent {
        public typealias Interface = Parking1
        public let place: Int32
        public init(place: Int32) { self.place = place }
    }
    public struct ParkCar: Command {
        public typealias Interface = Parking1
        public init() {}
        public struct Reply: Codable, Sendable {
            public let place: Int32
            public init(place: Int32) { self.place = place }
        }
        public enum Refusal: String, CommandRefusal { case full = "Full" }
    }
    public struct LeavePlace: Command {
        public typealias Interface = Parking1
        public let place: Int32
        public init(place: Int32) { self.place = place }
        public enum Refusal: String, CommandRefusal { case isFree = "IsFree" }
    }
    public struct FreePlaces: DomainDocument {
        public typealias Interface = Parking1
        public var count: Int32
        public init(count: Int32) { self.count = count }
        public static let initial = Self(count: 0)
    }
}
