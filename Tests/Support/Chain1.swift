package import RelayCore

/// What a service makes of the entries of `Ledger1`: each of them once, with the sum of all so far.
package enum Chain1: EventInterface {
    package static let name = "org.eventrelay.test.Chain1"
    package static let service = "org.eventrelay.Chain1"
    package static var contract: Contract<Self> {
        Copied.self
        Missed.self
    }
    package struct Copied: DomainEvent, Equatable {
        package typealias Interface = Chain1
        package let number: Int64
        package let sum: Int64
        package init(number: Int64, sum: Int64) { (self.number, self.sum) = (number, sum) }
    }
    package struct Missed: DomainEvent, Equatable {
        package typealias Interface = Chain1
        package let reason: String
        package init(reason: String) { self.reason = reason }
    }
}
