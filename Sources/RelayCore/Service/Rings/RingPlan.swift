/// What an interface's ring is made from, when the first peer asks for it.
struct RingPlan: Sendable {
    /// As in the ring's list, in the order of the events' numbers.
    let events: [RingEvent]
    let capacity: Int
    /// The interface's number in its service.
    let ringIndex: Int
    /// An event that does not fit is refused before it is published: it could not be read anywhere else.
    let refusesLarge: Bool

    static let smallestCapacity = 64 << 10

    /// Nil for a capacity of 0.
    ///
    /// - Parameter isVolatile: of a durable interface the ring has the wire encoding of every event: what was committed
    ///   is that.
    /// Throws `InvalidArgument` for any other capacity that no ring can have, and for events that no such ring can
    /// hold.
    init?(
        _ name: String, capacity: Int, events all: [RingEvent], isVolatile: Bool, ringIndex: Int
    ) throws(RelayError) {
        if capacity == 0 { return nil }
        guard RingLayout.isCapacity(UInt64(clamping: capacity), page: Self.smallestCapacity) else {
            throw RelayError(
                .invalidArgument,
                "\(name): a ringCapacity of \(capacity); take a power of two from \(Self.smallestCapacity) to "
                    + "\(RingLayout.maximumCapacity), or 0 for no ring")
        }
        (self.capacity, self.ringIndex, refusesLarge) = (capacity, ringIndex, isVolatile)
        var events: [RingEvent] = []
        for event in all {
            if let size = event.rawSize, size > RingLayout.maximumPayload(capacity), isVolatile {
                throw RelayError(
                    .invalidArgument,
                    "\(name).\(event.name) has \(size) bytes, over a quarter of the ringCapacity of \(capacity)")
            }
            events.append(isVolatile ? event : RingEvent(name: event.name))
        }
        self.events = events
        // Its list's length.
        _ = try RingHeader(epoch: 1, base: 0, capacity: capacity, events: events)
    }
    /// The largest payload that may be published; nil where the log has what the ring has not.
    var limit: PayloadLimit? {
        if !refusesLarge { return nil }
        return PayloadLimit(
            RingLayout.maximumPayload(capacity),
            "fit into a record of the ring, which is a quarter of it, at most 1 MiB: give the interface a larger "
                + "ringCapacity, or the event less")
    }
}

/// The wait pages of a service's peers, as a value: one each. A page takes a descriptor and two pages of memory.
struct WaitPages {
    private struct Entry {
        let page: WaitPage
        let charge: PeerLedger.Charge
    }
    private var entries: [String: Entry] = [:]
    private var lastSlot = -1

    var count: Int { entries.count }
    func page(of peer: String) -> WaitPage? { entries[peer]?.page }

    /// The peer's page, made when it asks for the first time.
    ///
    /// Throws `LimitsExceeded` when there are too many, `Unavailable` when there is no memory.
    mutating func page(of peer: String, _ ledger: PeerLedger) throws(RelayError) -> WaitPage {
        if let page = page(of: peer) { return page }
        let charge: PeerLedger.Charge
        do throws(PeerLedger.Refusal) { charge = try ledger.charge(.waitPages, to: peer) } catch { throw error.error }
        let page = try WaitPage(slot: lastSlot + 1)
        lastSlot += 1
        entries[peer] = Entry(page: page, charge: charge)
        return page
    }
    /// The page that a peer leaves behind, if it had one.
    mutating func depart(_ peer: String) -> WaitPage? { entries.removeValue(forKey: peer)?.page }
}
