package import RelayCore

/// The ledger as an older version of its service had it: entries without a text.
package enum OldLedger1: EventInterface {
    package static let name = Ledger1.name
    package static var contract: Contract<Self> {
        Entry.self
        Add.self
    }
    package struct Entry: DomainEvent, Equatable {
        package typealias Interface = OldLedger1
        package let number: Int64
        package init(number: Int64) { self.number = number }
    }
    package struct Add: Command {
        package typealias Interface = OldLedger1
        package let number: Int64
        package init(number: Int64) { self.number = number }
    }
}

/// The ledger of a version whose author thought of older rows: the text may be missing.
package enum KindLedger1: EventInterface {
    package static let name = Ledger1.name
    package static var contract: Contract<Self> {
        Entry.self
        Add.self
    }
    package struct Entry: DomainEvent, Equatable {
        package typealias Interface = KindLedger1
        package let number: Int64
        package let text: String?
        package init(number: Int64, text: String?) { (self.number, self.text) = (number, text) }
    }
    package struct Add: Command {
        package typealias Interface = KindLedger1
        package let number: Int64
        package init(number: Int64) { self.number = number }
    }
}
