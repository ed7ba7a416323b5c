import RelayCore

/// The second version: places are on floors, cars have plates, and a floor can be closed.
public enum Parking2: EventInterface {
    public static let name = "org.example.Parking2"
    public static var contract: Contract<Self> {
        CarParked.self
        CarLeft.self
        FloorClosed.self
        ParkCar.self
        LeavePlace.self
        CloseFloor.self
        FreePlaces.self
    }
    public struct Place: Codable, Hashable, Sendable {
        public let floor: Int32, place: Int32
        public init(floor: Int32, place: Int32) { (self.floor, self.place) = (floor, place) }
    }
    public struct CarParked: DomainEvent {
        public typealias Interface = Parking2
        public let place: Place, plate: String
        public init(place: Place, plate: String) { (self.place, self.plate) = (place, plate) }
    }
    public struct CarLeft: DomainEvent {
        public typealias Interface = Parking2
        public let place: Place
        public init(place: Place) { self.place = place }
    }
    public struct FloorClosed: DomainEvent {
        public typealias Interface = Parking2
        public let floor: Int32
        public init(floor: Int32) { self.floor = floor }
    }
    public struct ParkCar: Command {
        public typealias Interface = Parking2
        public let plate: String
        public init(plate: String) { self.plate = plate }
        public struct Reply: Codable, Sendable {
            public let place: Place
            public init(place: Place) { self.place = place }
        }
        public enum Refusal: String, CommandRefusal { case full = "Full" }
    }
    public struct LeavePlace: Command {
        public typealias Interface = Parking2
        public let place: Place
        public init(place: Place) { self.place = place }
        public enum Refusal: String, CommandRefusal { case isFree = "IsFree" }
    }
    public struct CloseFloor: Command {
        public typealias Interface = Parking2
        public let floor: Int32
        public init(floor: Int32) { self.floor = floor }
        public enum Refusal: String, CommandRefusal { case isClosed = "IsClosed" }
    }
    public struct FreePlaces: DomainDocument {
        public typealias Interface = Parking2
        /// By floor.
        public var counts: [Int32]
        public init(counts: [Int32]) { self.counts = counts }
        public static let initial = Self(counts: [])
    }
}
