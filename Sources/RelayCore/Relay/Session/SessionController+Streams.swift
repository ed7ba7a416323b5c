/// The streams of a session: made when they are first wanted, and what they report.
extension SessionController: StreamObserver {
    func stream(_ interface: String) -> StreamController {
        if let stream = streams[interface] { return stream }
        let stream = StreamController(
            StreamAddress(service, interface), isDurable: durable.contains(interface), owner, rings, pages, sink, self)
        streams.append(stream)
        return stream
    }
    /// A service may have ended while nothing was wanted of it.
    func startIfNeeded(by stream: StreamController, _ change: (StreamController) -> Void) {
        let (wasWanted, wereWanted) = (stream.isWanted, streams.areWanted)
        change(stream)
        if !wasWanted && stream.isWanted { startIfWanted() }
        // Nothing of this relay has kept the service so far: it may have decided to end.
        if !wereWanted && streams.areWanted { expectDeparture() }
    }
    func remove(_ member: StreamSubscriber) {
        guard let stream = member.stream else { return }
        stream.remove(member)
        streamSettled()
        calls.releaseReplies()
    }
    func found(_ room: ReplayBuffer.Room, _ member: StreamSubscriber) {
        if room.contains(.signals), let stream = member.stream { stream.run(member.machine.resume(), member) }
        if room.contains(.page) { pages.readNext() }
    }

    // MARK: What they report

    func streamOpened() { calls.admitWaiting() }
    func streamAdvanced() { calls.releaseReplies() }
    /// Active once all streams are in step. What the owner lacks is no matter of the connection: see
    /// `EventRelay.InterfaceState`.
    func streamSettled() {
        if streams.areSettled { report(owner.state.onLoop.session.settled()) }
    }
    /// Not of an inlet that shows it.
    func streamLost(_ stream: StreamController) {
        for other in streams.all where other !== stream && !other.inlets.reportsLoss { other.suspectLoss() }
    }
    func ringsRead() { if calls.holdsReplies { calls.releaseReplies() } }
    func pagePrepared(_ result: Result<Void, RelayError>) {
        for stream in streams.all { stream.inlets.ring.pagePrepared(result, stream) }
    }
}
