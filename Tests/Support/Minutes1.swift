package import RelayCore

/// A durable interface for tests with a document that others edit.
package enum Minutes1: EventInterface {
    package static let name = "org.eventrelay.test.Minutes1"
    package static let durability = Durable(retention: Retention(count: 100))
    package static var contract: Contract<Self> { Agenda.self }

    /// Who has added how much: each addition counts once.
    package struct Agenda: EditableDocument {
        package typealias Interface = Minutes1
        package var counts: [String: Int64]
        package init(counts: [String: Int64]) { self.counts = counts }
        package static let initial = Self(counts: [:])
    }
}
