import RelayWire

/// The ways out of one stream: the ring, and signals. Each owns its state and its code.
///
/// Every call is made under the stream's lock. Events come in the order of their sequences, and an answer about the
/// stream is made in the place among them where it is true. The order of the two is a rule: each event enters the ring
/// before its signal is sent.
struct StreamOutlets: Sendable {
    /// What is left to do when the lock is free.
    typealias Rest = AfterRecord
    var ring: RingOutlet
    var signals: SignalOutlet

    /// An event that is larger is refused before it is published: it could not be had anywhere else.
    var limit: PayloadLimit? { ring.limit }

    // MARK: Events

    /// Returns what is left to do when the lock is free.
    @inline(__always)
    mutating func emit(_ index: Int, _ stamp: Stamp, _ payload: UnsafeRawBufferPointer) -> Rest {
        ring.emit(index, stamp, payload)
    }
    /// With a message. Does the rest by itself, under the lock: sending a message takes longer, and sleepers need not
    /// wait for that.
    @inline(__always)
    mutating func emit(
        _ index: Int, _ stamp: Stamp, _ message: inout EventMessage, _ value: UnsafeRawBufferPointer?,
        in stream: PublishedStream
    ) {
        message.enter(stamp)
        message.withPayload(value) { ring.emit(index, stamp, $0) }.run()
        signals.emit(index, stamp, &message, in: stream)
    }
    var takesMessages: Bool { signals.takesMessages }
    /// Sends a message beside the events, as `SignalOutlet.send` does.
    mutating func send(
        beside sequence: UInt64, in stream: PublishedStream, _ compose: () throws -> (MessageHeader, [UInt8])
    ) -> Bool { signals.send(beside: sequence, in: stream, compose) }

    /// The log never has what is up to here. No event shows it: `Head` does.
    mutating func skipped(_ sequence: UInt64, in stream: PublishedStream) { signals.skipped(sequence, in: stream) }

    // MARK: Peers

    mutating func attach(_ peer: String, names: [String], in stream: PublishedStream) {
        signals.attach(peer, names: names, in: stream)
    }
    mutating func depart(_ peer: String) { signals.depart(peer) }
    /// Ends delivery to peers that may receive no more events, and notifies them, as well as those who lose the ring
    /// with them, since it cannot distinguish readers: signals bring these their events until they have asked again.
    ///
    /// - Parameter endsFormerReaders: whether to end also what a former reader of the ring may still have.
    mutating func withdraw(
        from peers: Set<String>, endsFormerReaders: Bool, in stream: PublishedStream, at place: borrowing StreamPlace
    ) {
        let cutOff = ring.withdraw(from: peers, endsFormerReaders: endsFormerReaders, at: place)
        for peer in peers { signals.depart(peer) }
        for peer in cutOff { signals.takeBack(peer, in: stream) }
        signals.sendReattach(to: peers.union(cutOff))
    }
    /// A reply to a peer is about to leave: what was published before is to be seen before it.
    mutating func prepareReply(to peer: String, in stream: PublishedStream, at place: borrowing StreamPlace) {
        signals.prepareReply(to: peer, in: stream, at: place)
    }
    /// Nothing follows. Returns whether somebody was there to hear it. The ring ends behind the signals: its readers
    /// drain it at the last word, and leave when it has ended.
    ///
    /// - Parameter isKnown: whether the stream knows how far it came; if not, readers must not take it that they have
    ///   everything.
    mutating func end(isKnown: Bool, in stream: PublishedStream, at place: borrowing StreamPlace) -> Bool {
        let isHeard = signals.end(isKnown: isKnown, in: stream, at: place)
        ring.end(at: place)
        return isHeard
    }

    // MARK: Status

    /// Peers that the ring serves, which need not have attached.
    var readers: Int { ring.readers.count }
    var status: [(name: String, value: DBusValue)] { ring.status + signals.status }
    /// Of the transports that the interface has, by their names.
    func figures(at head: UInt64) -> [String: OutletFigures] {
        var figures = ["signal": signals.figures(at: head)]
        if ring.plan != nil { figures["ring"] = ring.figures(at: head) }
        return figures
    }
    /// What brings a peer its events, and how far: signals serve everybody whom the ring does not.
    func progress(of peer: String) -> OutletProgress { ring.progress(of: peer) ?? OutletProgress("signal") }
}
