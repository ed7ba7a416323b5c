/// All ways out of one stream, each called by its own type. A further transport is a property here, and a line in
/// each function.
///
/// The order is a rule: each event enters the ring before its signal is sent.
struct StreamOutlets: Sendable {
    var ring: RingOutlet
    var signals: SignalOutlet

    /// An event that is larger is refused before it is published: it could not be had anywhere else.
    var limit: PayloadLimit? { ring.limit }

    // MARK: Events

    /// To all that take payloads. Returns the sleepers, to be woken when the lock is free, or before a message is sent.
    @inline(__always)
    mutating func emit(_ event: PlacedEvent, _ payload: UnsafeRawBufferPointer) -> RingOutlet.Wake {
        ring.emit(event, payload)
    }
    var takesMessages: Bool { signals.takesMessages }
    /// To all that take messages: behind `emit`, and behind waking, since sending one takes longer.
    @inline(__always)
    mutating func send(_ event: PlacedEvent, _ message: inout EventMessage, in stream: PublishedStream) {
        signals.emit(event, &message, in: stream)
    }

    // MARK: Peers

    mutating func attach(_ peer: String, names: [String]) {
        ring.attach(peer, names: names)
        signals.attach(peer, names: names)
    }
    mutating func depart(_ peer: String) {
        ring.depart(peer)
        signals.depart(peer)
    }
    mutating func handOver(_ peer: String) {
        ring.handOver(peer)
        signals.handOver(peer)
    }
    mutating func takeBack(_ peer: String) {
        ring.takeBack(peer)
        signals.takeBack(peer)
    }
    mutating func prepareReply(to peer: String, in stream: PublishedStream, at place: borrowing StreamPlace) {
        ring.prepareReply(to: peer, in: stream, at: place)
        signals.prepareReply(to: peer, in: stream, at: place)
    }
    /// The ring last: its readers drain it at the last word, and leave when it has ended.
    mutating func end(isKnown: Bool, in stream: PublishedStream, at place: borrowing StreamPlace) -> Bool {
        let isHeard = signals.end(isKnown: isKnown, in: stream, at: place)
        return ring.end(isKnown: isKnown, in: stream, at: place) || isHeard
    }

    // MARK: Status

    var status: [(name: String, value: DBusValue)] { ring.status + signals.status }
    /// Of the first that serves the peer: signals serve everybody else.
    func progress(of peer: String) -> OutletProgress? { ring.progress(of: peer) ?? signals.progress(of: peer) }
}
