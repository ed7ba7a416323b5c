/// All ways out of one stream. Ring and signals are called by their own types, since every event of every service
/// passes them; a further transport is an `OutletSource` of the bus, and is called by its protocol.
///
/// The order is a rule: each event enters the ring before its signal is sent.
struct StreamOutlets: Sendable {
    typealias Wake = RingOutlet.Wake
    var ring: RingOutlet
    var signals: SignalOutlet
    /// The one that the bus brings; a real one brings none.
    private var further: (any PayloadOutlet)?
    /// Beside it, since a look at an existential copies it.
    private let hasFurther: Bool

    init(ring: RingOutlet, signals: SignalOutlet, further: (any PayloadOutlet)? = nil) {
        (self.ring, self.signals, self.further) = (ring, signals, further)
        hasFurther = further != nil
    }

    /// An event that is larger is refused before it is published: it could not be had anywhere else.
    var limit: PayloadLimit? { ring.limit ?? further?.limit }

    // MARK: Events

    /// To all that take payloads. Returns the sleepers, to be woken when the lock is free, or before a message is sent.
    @inline(__always)
    mutating func emit(_ event: PlacedEvent, _ payload: UnsafeRawBufferPointer) -> SleepingReaders {
        if hasFurther { emitFurther(event, payload) }
        return ring.emit(event, payload)
    }
    @inline(never) private mutating func emitFurther(_ event: PlacedEvent, _ payload: UnsafeRawBufferPointer) {
        further?.emit(event, payload).wake()
    }
    var takesMessages: Bool { signals.takesMessages }
    /// To all that take messages: behind `emit`, and behind waking, since sending one takes longer.
    @inline(__always)
    mutating func send(_ event: PlacedEvent, _ message: inout EventMessage, in stream: PublishedStream) {
        signals.emit(event, &message, in: stream)
    }

    /// A document's new state, as a property, behind the event that set it. Returns whether it was sent.
    mutating func announce(
        _ property: DocumentProperty, _ fields: [UInt8], after sequence: UInt64, in stream: PublishedStream
    ) -> Bool {
        signals.announce(property, fields, after: sequence, in: stream)
    }

    // MARK: Peers

    /// Peers that an outlet serves without their having attached.
    var readers: Int { ring.readers.count }
    mutating func connect(_ connection: BusConnection) {
        ring.connect(connection)
        signals.connect(connection)
        further?.connect(connection)
    }
    mutating func attach(_ peer: String, names: [String]) {
        further?.attach(peer, names: names)
        ring.attach(peer, names: names)
        signals.attach(peer, names: names)
    }
    mutating func depart(_ peer: String) {
        further?.depart(peer)
        ring.depart(peer)
        signals.depart(peer)
    }
    /// Notifies the peers that may receive no more events, and those who lose what they had with them: signals bring
    /// these their events until they have asked again.
    mutating func withdraw(from peers: Set<String>, endsFormerReaders: Bool, at place: borrowing StreamPlace) {
        var cutOff = ring.withdraw(from: peers, endsFormerReaders: endsFormerReaders, at: place)
        cutOff += signals.withdraw(from: peers, endsFormerReaders: endsFormerReaders, at: place)
        cutOff += further?.withdraw(from: peers, endsFormerReaders: endsFormerReaders, at: place) ?? []
        for peer in cutOff { takeBack(peer) }
        signals.sendReattach(to: peers.union(cutOff))
    }
    mutating func handOver(_ peer: String) {
        further?.handOver(peer)
        ring.handOver(peer)
        signals.handOver(peer)
    }
    mutating func takeBack(_ peer: String) {
        further?.takeBack(peer)
        ring.takeBack(peer)
        signals.takeBack(peer)
    }
    mutating func prepareReply(to peer: String, in stream: PublishedStream, at place: borrowing StreamPlace) {
        further?.prepareReply(to: peer, in: stream, at: place)
        ring.prepareReply(to: peer, in: stream, at: place)
        signals.prepareReply(to: peer, in: stream, at: place)
    }
    /// The ring behind the signals: its readers drain it at the last word, and leave when it has ended.
    mutating func end(isKnown: Bool, in stream: PublishedStream, at place: borrowing StreamPlace) -> Bool {
        var isHeard = signals.end(isKnown: isKnown, in: stream, at: place)
        if further?.end(isKnown: isKnown, in: stream, at: place) == true { isHeard = true }
        return ring.end(isKnown: isKnown, in: stream, at: place) || isHeard
    }

    // MARK: Status

    var status: [(name: String, value: DBusValue)] {
        ring.status + signals.status + (further?.status ?? [])
    }
    /// Of the transports that the interface has, by their names.
    func figures(at head: UInt64) -> [String: OutletFigures] {
        var figures = ["signal": signals.figures(at: head)]
        if ring.plan != nil { figures["ring"] = ring.figures(at: head) }
        return figures
    }
    /// Of the first that serves the peer: signals serve everybody else.
    func progress(of peer: String) -> OutletProgress? {
        further?.progress(of: peer) ?? ring.progress(of: peer) ?? signals.progress(of: peer)
    }
}
