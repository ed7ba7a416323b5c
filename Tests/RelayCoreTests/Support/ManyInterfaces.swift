import RelayCore

/// Types that differ by a number alone.
protocol Digit: Sendable { static var value: Int { get } }
enum Digit0: Digit { static let value = 0 }
enum Digit1: Digit { static let value = 1 }
enum Digit2: Digit { static let value = 2 }
enum Digit3: Digit { static let value = 3 }
enum Digit4: Digit { static let value = 4 }

enum Many1<First: Digit, Second: Digit, Third: Digit>: EventInterface {
    static var name: String { "org.example.Many\(First.value)\(Second.value)\(Third.value)" }
    static var durability: Volatile { Volatile() }
    static var contract: Contract<Self> { Counted<First, Second, Third>.self }
}
struct Counted<First: Digit, Second: Digit, Third: Digit>: FixedLayoutEvent {
    typealias Interface = Many1<First, Second, Third>
    static var name: String { "Counted" }
    var number: Int64
}

/// Fifty interfaces, with what a test does to each.
enum ManyInterfaces {
    private static var digits: [any Digit.Type] { [Digit0.self, Digit1.self, Digit2.self, Digit3.self, Digit4.self] }
    private static func each<Result>(_ body: (any Digit.Type, any Digit.Type, any Digit.Type) -> Result) -> [Result] {
        digits.flatMap { first in digits.flatMap { second in digits.prefix(2).map { body(first, second, $0) } } }
    }
    static var types: [any EventInterface.Type] {
        func type<A: Digit, B: Digit, C: Digit>(_: A.Type, _: B.Type, _: C.Type) -> any EventInterface.Type {
            Many1<A, B, C>.self
        }
        return each { type($0, $1, $2) }
    }
    static func subscribe(
        _ publisher: EventPublisher, _ received: @escaping @Sendable (Int64) -> Void
    ) -> [Subscription] {
        func subscribe<A: Digit, B: Digit, C: Digit>(_: A.Type, _: B.Type, _: C.Type) -> Subscription {
            publisher.subscribe(to: Counted<A, B, C>.self, delivery: .immediate) {
                received($0.number)
            } onGap: { _ in
            }
        }
        return each { subscribe($0, $1, $2) }
    }
    static func publish(_ service: EventService, _ number: Int64) throws {
        func publish<A: Digit, B: Digit, C: Digit>(_: A.Type, _: B.Type, _: C.Type) -> Result<Void, any Error> {
            Result { try service.publish(Counted<A, B, C>(number: number)) }
        }
        for result in each({ publish($0, $1, $2) }) { try result.get() }
    }
}
