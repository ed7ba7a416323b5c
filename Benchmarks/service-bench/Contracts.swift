import RelayCore

/// Above its signal budget from the second event on: by the ring alone.
enum Flood1: EventInterface {
    static let name = "org.eventrelay.Flood1"
    static let durability = Volatile()
    static let signalBudget = SignalBudget.perSecond(1, burst: 1)
    @ContractBuilder<Self> static var contract: Contract<Self> {
        Fixed.self
        Coded.self
    }
}
/// 64 bytes.
struct Fixed: FixedLayoutEvent {
    typealias Interface = Flood1
    var number: UInt64 = 0, b = 1.0, c = 2.0, d = 3.0
    var e: UInt64 = 4, f: UInt64 = 5, g: UInt64 = 6, h: UInt64 = 7
}
struct Coded: DomainEvent {
    typealias Interface = Flood1
    var number: UInt64 = 0, value = 1.5, minimum: Int64 = -1, kind: Int32 = 4, place = "boiler/pressure"
}

/// Types that differ by a number alone.
protocol Digit: Sendable { static var value: Int { get } }
enum Digit0: Digit { static let value = 0 }
enum Digit1: Digit { static let value = 1 }
enum Digit2: Digit { static let value = 2 }
enum Digit3: Digit { static let value = 3 }
enum Digit4: Digit { static let value = 4 }

/// One of many interfaces that publish hardly ever, with all else by default.
enum Idle1<First: Digit, Second: Digit, Third: Digit>: EventInterface {
    static var name: String { "org.eventrelay.Idle\(First.value)\(Second.value)\(Third.value)" }
    static var durability: Volatile { Volatile() }
    static var contract: Contract<Self> { Seldom<First, Second, Third>.self }
}
struct Seldom<First: Digit, Second: Digit, Third: Digit>: FixedLayoutEvent {
    typealias Interface = Idle1<First, Second, Third>
    static var name: String { "Seldom" }
    var number: Int64
}

enum IdleInterfaces {
    private static let digits: [any Digit.Type] = [
        Digit0.self, Digit1.self, Digit2.self, Digit3.self, Digit4.self,
    ]
    private static func each<Result>(
        _ body: (any Digit.Type, any Digit.Type, any Digit.Type) throws -> Result
    ) rethrows -> [Result] {
        try digits.flatMap { first in
            try digits.flatMap { second in try digits.prefix(2).map { try body(first, second, $0) } }
        }
    }
    /// Fifty.
    static var types: [any EventInterface.Type] {
        func type<A: Digit, B: Digit, C: Digit>(_: A.Type, _: B.Type, _: C.Type) -> any EventInterface.Type {
            Idle1<A, B, C>.self
        }
        return each { type($0, $1, $2) }
    }
    /// A subscriber to each, with a connection of its own.
    static func follow(_ service: String, on bus: Bus) throws -> [(EventRelay, Subscription)] {
        func follow<A: Digit, B: Digit, C: Digit>(
            _: A.Type, _: B.Type, _: C.Type
        ) throws -> (EventRelay, Subscription) {
            let relay = try EventRelay(following: service, on: bus, interfaces: Idle1<A, B, C>.self)
            return (
                relay,
                relay.publisher.subscribe(to: Seldom<A, B, C>.self) { _ in
                } onGap: { _ in
                }
            )
        }
        return try each { try follow($0, $1, $2) }
    }
    /// One event of each.
    static func publish(_ service: EventService) throws {
        func publish<A: Digit, B: Digit, C: Digit>(_: A.Type, _: B.Type, _: C.Type) throws {
            try service.publish(Seldom<A, B, C>(number: 1))
        }
        _ = try each { try publish($0, $1, $2) }
    }
}
