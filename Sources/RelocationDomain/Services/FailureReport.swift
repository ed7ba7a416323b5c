public import RelayCore
public import Relocation

/// Publishes what failed, in a unit of its own: the unit that failed was rolled back, with whatever it had published.
public struct FailureReport: RelocationWork {
    public let events: [any RelocationEvent]
    public init(_ events: [any RelocationEvent]) { self.events = events }

    public func perform(in unit: inout some BoxRepository & ItemRepository & EventSink & ~Copyable) throws {
        for event in events { try unit.publish(event) }
    }
}
