/// Where a stream stands.
package struct StreamPlace: Sendable {
    /// The last that was given; of a durable interface, the last that was emitted.
    package var sequence: UInt64 = 0
    /// The last sequence of each event, by its number.
    var last: [UInt64]
    /// The last sequences of names that only an earlier version of the contract had.
    var former: [String: UInt64] = [:]

    init(events count: Int) { last = [UInt64](repeating: 0, count: count) }
}

/// One way by which a stream's events leave. It owns its state and its code; the stream knows this protocol only.
///
/// Every call is made under the stream's lock. Events come in the order of their sequences, and an answer about the
/// stream is made in the place among them where it is true.
package protocol Outlet: Sendable {
    /// The service has a connection from now on, over which its peers can reach it.
    mutating func connect(_ connection: BusConnection)
    /// A peer wants events of these names, kept in the service's own memory; of none: it wants nothing more.
    mutating func attach(_ peer: String, names: [String])
    /// A peer has left the bus.
    mutating func depart(_ peer: String)
    /// Ends delivery to peers that may receive no more events. Returns the other peers that it no longer serves: an
    /// outlet that cannot tell its readers apart, such as the ring, ends for all.
    ///
    /// - Parameter endsFormerReaders: whether to end also what a former reader may still have.
    mutating func withdraw(
        from peers: Set<String>, endsFormerReaders: Bool, at place: borrowing StreamPlace
    ) -> [String]
    /// Another outlet brings a peer its events from now on.
    mutating func handOver(_ peer: String)
    /// The other outlet no longer does.
    mutating func takeBack(_ peer: String)
    /// A reply to a peer is about to leave: what was published before is to be seen before it.
    mutating func prepareReply(to peer: String, in stream: PublishedStream, at place: borrowing StreamPlace)
    /// Nothing follows. Returns whether somebody was there to hear it.
    ///
    /// - Parameter isKnown: whether the stream knows how far it came; if not, readers must not take it that they have
    ///   everything.
    mutating func end(isKnown: Bool, in stream: PublishedStream, at place: borrowing StreamPlace) -> Bool

    /// What `Status` shows of it.
    var status: [(name: String, value: DBusValue)] { get }
    /// How far it has brought a peer its events; nil for one that it does not serve.
    func progress(of peer: String) -> OutletProgress?
}
extension Outlet {
    package mutating func connect(_ connection: BusConnection) {}
    package mutating func attach(_ peer: String, names: [String]) {}
    package mutating func depart(_ peer: String) {}
    package mutating func withdraw(
        from peers: Set<String>, endsFormerReaders: Bool, at place: borrowing StreamPlace
    ) -> [String] {
        for peer in peers { depart(peer) }
        return []
    }
    package mutating func handOver(_ peer: String) {}
    package mutating func takeBack(_ peer: String) {}
    package mutating func prepareReply(to peer: String, in stream: PublishedStream, at place: borrowing StreamPlace) {}
    package var status: [(name: String, value: DBusValue)] { [] }
    package func progress(of peer: String) -> OutletProgress? { nil }
}

/// An outlet that takes each event's payload: its fields in the wire encoding, or the bytes of its value, as its
/// contract determines.
package protocol PayloadOutlet: Outlet {
    associatedtype Wake: OutletWake
    /// What is left to be done when the lock is free, or before something that takes longer.
    mutating func emit(_ event: PlacedEvent, _ payload: UnsafeRawBufferPointer) -> Wake
    /// The largest payload that it carries; nil: any.
    var limit: PayloadLimit? { get }
}
extension PayloadOutlet {
    package var limit: PayloadLimit? { nil }
}

/// A bus of a test, which brings an outlet of its own for each stream.
package protocol OutletSource: AnyObject, Sendable {
    /// - Parameter epoch: the stream's run.
    /// - Parameter events: what the payloads are, in the order of the events' numbers.
    func makeOutlet(of interface: String, epoch: UInt64, events: [RingEvent]) -> any PayloadOutlet
}

/// An outlet that takes each event as a whole message, which can be read without knowing anything before.
protocol MessageOutlet: Outlet {
    /// Whether a message is of any use to it.
    var takesMessages: Bool { get }
    mutating func emit(_ event: PlacedEvent, _ message: inout EventMessage, in stream: PublishedStream)
}

/// Readers that sleep, and are to be woken.
package protocol OutletWake { func wake() }

/// How far an outlet has brought a peer its events.
package struct OutletProgress: Sendable {
    /// The transport's name, as in `Status`.
    let transport: String
    /// The last sequence that the peer reports, which may be anything; 0 if it reports none. Not under the stream's
    /// lock: it may look at memory that the peer has, too.
    let sequence: @Sendable () -> UInt64

    package init(_ transport: String, sequence: @escaping @Sendable () -> UInt64 = { 0 }) {
        (self.transport, self.sequence) = (transport, sequence)
    }
}

/// What is too large for an outlet that nobody could do without.
package struct PayloadLimit: Sendable {
    let bytes: Int
    /// What follows the numbers in the error.
    let reason: String
    init(_ bytes: Int, _ reason: String) { (self.bytes, self.reason) = (bytes, reason) }
}
