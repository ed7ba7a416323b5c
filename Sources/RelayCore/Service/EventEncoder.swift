/// Knows the events of a service's interfaces, and how to encode them.
package protocol EventEncoder: Sendable {
    /// Throws `NotFound` for an event of an interface that is not exported, `InvalidArgument` for a value that D-Bus cannot
    /// carry, `TooLarge` over the message limit.
    func encode<E: DomainEvent>(_ event: E) throws -> EncodedEvent
}
