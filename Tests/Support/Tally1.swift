package import RelayCore

/// A durable interface with a document that several processes change.
package enum Tally1: EventInterface {
    package static let name = "org.eventrelay.test.Tally1"
    package static let service = "org.eventrelay.Service1"
    package static var contract: Contract<Self> { Tally.self }

    /// How often each of those that change it has counted up.
    package struct Tally: EditableDocument {
        package typealias Interface = Tally1
        package var counts: [String: Int64]
        package init(counts: [String: Int64]) { self.counts = counts }
        package static let initial = Self(counts: [:])

        package var total: Int64 { counts.values.reduce(0, +) }
        package mutating func count(_ name: String) { counts[name, default: 0] += 1 }
    }
}
