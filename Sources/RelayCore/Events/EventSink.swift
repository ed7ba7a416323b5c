/// Where domain code publishes: a unit of work, a publisher, a recording double.
public protocol EventSink: ~Copyable {
    /// Takes the event, or throws why it cannot.
    mutating func publish<E: DomainEvent>(_ event: E) throws
}
