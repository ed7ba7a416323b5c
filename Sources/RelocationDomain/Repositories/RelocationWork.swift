public import RelayCore
public import Relocation

/// What is to be done within one unit of work, on whatever a store's unit of work is.
///
/// A type and not a closure, because a closure cannot be generic, and a unit of work that cannot be copied
/// cannot be an associated type.
public protocol RelocationWork: Sendable {
    associatedtype Outcome: Sendable
    /// How it refuses.
    associatedtype Refusal: Error = Never
    /// Changes state and publishes events, both of which happen together or, if it throws, not at all.
    func perform(in unit: inout some BoxRepository & ItemRepository & EventSink & ~Copyable) throws -> Outcome
    /// The events that report a refusal, in order: the store publishes them in place of the work's own.
    func events(reporting failure: Refusal) -> [any RelocationEvent]
}

extension RelocationWork where Refusal == Never {
    public func events(reporting failure: Never) -> [any RelocationEvent] {}
}
