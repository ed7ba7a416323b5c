package import RelayCore

/// A durable interface for tests, one of whose commands never returns.
package enum Blocked1: EventInterface {
    package static let name = "org.eventrelay.test.Blocked1"
    package static let service = "org.eventrelay.Service1"
    package static var contract: Contract<Self> {
        Booked.self
        Hold.self
        Book.self
        Greet.self
    }
    package struct Booked: DomainEvent {
        package typealias Interface = Blocked1
        package let number: Int64
        package init(number: Int64) { self.number = number }
    }
    /// Blocks its thread for good.
    package struct Hold: Command {
        package typealias Interface = Blocked1
        package init() {}
    }
    /// Commits an event.
    package struct Book: Command {
        package typealias Interface = Blocked1
        package let number: Int64
        package init(number: Int64) { self.number = number }
    }
    package struct Greet: Command {
        package typealias Interface = Blocked1
        package init() {}
    }
}
