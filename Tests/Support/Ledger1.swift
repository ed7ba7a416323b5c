import Glibc
package import RelayCore

/// A durable interface for tests: events as large and as many as they like, one of them rare.
package enum Ledger1: EventInterface {
    package static let name = "org.eventrelay.test.Ledger1"
    package static let service = "org.eventrelay.Service1"
    /// How many events are kept, for the process that serves it; unset: all.
    package static let keepVariable = "RELAY_TEST_KEEP"
    package static var durability: Durable {
        let kept = getenv(keepVariable).flatMap { Int(String(cString: $0)) }
        return Durable(retention: Retention(count: kept))
    }
    package static var contract: Contract<Self> {
        Entry.self
        Marked.self
        Write.self
        Mark.self
        WriteOnce.self
        Ping.self
    }

    package struct Entry: DomainEvent, Equatable {
        package typealias Interface = Ledger1
        package let number: Int64
        package let text: String
        package init(number: Int64, text: String) { (self.number, self.text) = (number, text) }
    }
    /// The rare one.
    package struct Marked: DomainEvent, Equatable {
        package typealias Interface = Ledger1
        package let number: Int64
        package init(number: Int64) { self.number = number }
    }
    /// Publishes `count` entries in each of `units` units of work, numbered from `first`.
    package struct Write: Command {
        package typealias Interface = Ledger1
        package let first: Int64
        package let count: Int64
        package let units: Int64
        package let text: String
        package init(first: Int64 = 1, count: Int64, units: Int64 = 1, text: String = "") {
            (self.first, self.count, self.units, self.text) = (first, count, units, text)
        }
    }
    package struct Mark: Command {
        package typealias Interface = Ledger1
        package let number: Int64
        package init(number: Int64) { self.number = number }
    }
    /// Publishes one entry, and answers with a number that no second run would find again.
    package struct WriteOnce: IdempotentCommand {
        package typealias Interface = Ledger1
        package let number: Int64
        package let idempotencyKey: String?
        package init(number: Int64, key: String) { (self.number, idempotencyKey) = (number, key) }
        package struct Reply: Codable, Sendable, Equatable {
            package let answer: Int64
            package init(answer: Int64) { self.answer = answer }
        }
    }
    package struct Ping: Command {
        package typealias Interface = Ledger1
        package init() {}
    }
}
