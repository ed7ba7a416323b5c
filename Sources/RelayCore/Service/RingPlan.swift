/// What an interface's ring is made from, when the first peer asks for it.
struct RingPlan: Sendable {
    /// As in the ring's list, in the order of the events' numbers.
    let events: [RingEvent]
    let capacity: Int
    /// The interface's number in its service.
    let lane: Int
    /// An event that does not fit is refused before it is published: it could not be read anywhere else.
    let refusesLarge: Bool

    static let smallestCapacity = 64 << 10

    /// Nil for a capacity of 0.
    ///
    /// - Parameter isVolatile: of a durable interface the ring has the wire encoding of every event: what was committed is that.
    /// Throws `InvalidArgument` for any other capacity that no ring can have, and for events that no such ring can hold.
    init?<I: EventInterface>(_ interface: I.Type, isVolatile: Bool, lane: Int) throws {
        if I.ringCapacity == 0 { return nil }
        guard RingLayout.isCapacity(UInt64(clamping: I.ringCapacity), page: Self.smallestCapacity) else {
            throw RelayError(
                .invalidArgument,
                "\(I.name): a ringCapacity of \(I.ringCapacity); take a power of two from \(Self.smallestCapacity) to "
                    + "\(RingLayout.maximumCapacity), or 0 for no ring")
        }
        (capacity, self.lane, refusesLarge) = (I.ringCapacity, lane, isVolatile)
        var events: [RingEvent] = []
        for type in I.contract.events {
            let event = try RingEvent(type)
            if let size = event.rawSize, size > RingLayout.maximumPayload(capacity), isVolatile {
                throw RelayError(
                    .invalidArgument,
                    "\(I.name).\(event.name) has \(size) bytes, over a quarter of the ringCapacity of \(capacity)")
            }
            events.append(isVolatile ? event : RingEvent(name: event.name))
        }
        self.events = events
        // Its list's length.
        _ = try RingHeader(epoch: 1, base: 0, capacity: capacity, events: events)
    }
    /// The largest payload that may be published.
    var largestPayload: Int { refusesLarge ? RingLayout.maximumPayload(capacity) : .max }
}
