import Synchronization

/// A relay's session with its service: routes what the bus brings to its parts, follows the owner of the service's name,
/// and reports the relay's states.
package final class SessionController: BusHandler {
    struct State {
        var backoff: Backoff
        /// The ordered question who has the service's name, and when the last one was sent.
        var inquiryTimer: UInt64?
        var askedAt: UInt64 = 0
        /// Until when a departure of the present owner counts as one that it had decided on before: see
        /// `expectDeparture`.
        var departsUntil: UInt64 = 0
        /// What keeps the relay from the bus was reported.
        var hasReportedOutage = false
        /// How often owners have left while they counted so.
        var earlyDepartures = EarlyDepartures()
    }
    let service: String
    let bus: Bus
    let requirement: PeerRequirement
    let activation: EventRelay.Activation
    /// Interfaces that are durable whatever their service has reported yet.
    let durable: Set<String>
    let sink: any SessionSink
    package let loop: BusLoop
    let timing: RelayTiming
    let accounts: AccountCache<SystemAccounts>
    let state: LoopBound<State>
    let owner: ServiceOwner
    let streams: FollowedStreams
    let rings: RingTransport
    let pages: PageBroker
    let calls: CallBroker
    /// What is to be followed, as far as the loop has not heard of it.
    private let follows = Mutex<[String: Set<String>?]>([:])
    /// Why there is no connection to the bus, after the last attempt; nil with one.
    let busFailure = Mutex<RelayError?>(nil)
    let foreign = Atomic<Int>(0)
    /// What positioned subscriptions dropped, by the interface.
    private let drops = Mutex<[String: DropCounts]>([:])

    init(
        _ service: String, _ bus: Bus, _ requirement: PeerRequirement, _ activation: EventRelay.Activation,
        _ durable: Set<String>, usesRings: Bool, _ timing: RelayTiming, _ sink: any SessionSink, _ loop: BusLoop
    ) {
        (self.service, self.bus, self.requirement, self.activation) = (service, bus, requirement, activation)
        (self.durable, self.timing, self.sink, self.loop) = (durable, timing, sink, loop)
        accounts = AccountCache(of: SystemAccounts(), timing: timing.accounts)
        state = LoopBound(State(backoff: Backoff(timing.reconnect)), on: loop)
        owner = ServiceOwner(service, loop, timing, sink)
        streams = FollowedStreams(on: loop)
        rings = RingTransport(isUsed: usesRings, owner)
        pages = PageBroker(owner)
        calls = CallBroker(owner, streams, mayAskAnyone: requirement.isAnyone, mayStart: activation.startsService)
        // Here, on the caller's thread: a look-up may ask the network.
        requirement.lookUp(in: accounts)
    }

    // MARK: From any thread

    /// Where the positioned subscriptions to an interface count what they drop.
    func drops(of interface: String) -> DropCounts {
        drops.withLock { drops in
            let counts = drops[interface] ?? DropCounts()
            drops[interface] = counts
            return counts
        }
    }
    /// How many events the publisher's and the positioned subscriptions had no room for.
    var overflowed: Int { drops.withLock { $0.values.reduce(sink.overflowed) { $0 + $1.overflowed } } }

    func activate() {
        loop.execute { [self] in
            owner.handler.onLoop.value = self
            switch owner.state.onLoop.session.activate() {
            case .ignored: break
            case .connect: connect()
            }
        }
    }
    func invalidate(then next: @escaping @Sendable () -> Void = {}) {
        loop.execute { [self] in
            close(owner.state.onLoop.session.end(), RelayError(.unavailable, "the relay of \(service) was invalidated"))
            // Behind the calls that have just ended.
            loop.execute(next)
        }
    }
    func follow(_ interface: String, _ names: Set<String>?) {
        follows.withLock { $0[interface] = .some(names) }
        loop.execute { [self] in
            // The latest: a subscription that ends and another one that begins at once lose nothing between the two.
            guard let names = follows.withLock({ $0.removeValue(forKey: interface) }) else { return }
            startIfNeeded(by: stream(interface)) { $0.want(names) }
            streamSettled()
            // What is no longer wanted keeps nobody waiting.
            calls.releaseReplies()
        }
    }
    /// Begins to fill a positioned subscription's feed; what is published after this misses nothing of it.
    func add<Payload>(
        _ source: ReplaySource<Payload>, to interface: String, names: Set<String>?, from start: StreamStart,
        searching time: Timestamp?
    ) {
        let feed = source.feed
        let member = StreamSubscriber(
            names: names, from: start, isDurable: durable.contains(interface), searching: time.map { TimeSearch($0) },
            feed, token: source.token, learn: source.learn)
        feed.onRoom { [weak self, loop] room in loop.execute { [weak self] in self?.found(room, member) } }
        source.onEnd { [weak self, loop] in loop.execute { [weak self] in self?.remove(member) } }
        loop.execute { [self] in
            if owner.state.onLoop.session.isOver { return feed.finish() }
            startIfNeeded(by: stream(interface)) { $0.add(member) }
        }
    }

    // MARK: Connecting

    private func connect() {
        if owner.state.onLoop.session.isOver { return }
        BusConnection.open(bus, on: loop, handler: self, timing: timing.bus) { [weak self] result in
            guard let self else { return }
            switch result {
            case .success(let connection):
                busFailure.withLock { $0 = nil }
                connected(connection)
            case .failure(let failure):
                // libdbus does not say it in words that help.
                let error = SpareDescriptors.error(for: 1, "the connection to \(bus)") ?? failure
                busFailure.withLock { $0 = error }
                if !state.onLoop.hasReportedOutage, !owner.state.onLoop.session.isOver {
                    state.onLoop.hasReportedOutage = true
                    sink.connectionFailed(error)
                }
                calls.endWaiting(error)
                calls.barriers.endAll(error, isLast: false)
                switch owner.state.onLoop.session.connectionFailed() {
                case .ignored: break
                case .retry(let standing):
                    report(standing)
                    retry()
                }
            }
        }
    }
    private func retry() {
        let delay = state.onLoop.backoff.spread()
        loop.schedule(after: delay) { [weak self] in self?.connect() }
    }
    private func connected(_ connection: BusConnection) {
        guard case .askForOwner = owner.state.onLoop.session.connected() else { return connection.close() }
        owner.state.onLoop.connection = connection
        state.onLoop.hasReportedOutage = false
        addOwnerRule()
        for stream in streams.all { stream.connected() }
        askBusForOwner()
    }
    private func addOwnerRule(isRepeated: Bool = false) {
        owner.addMatch(.owner(of: service), "announce who owns \(service)") { [self] isTaken in
            if !isTaken {
                loop.schedule(after: timing.retry) { [weak self, weak connection = owner.connection] in
                    if let self, let connection, owner.connection === connection { addOwnerRule(isRepeated: true) }
                }
            } else if isRepeated {
                // What was announced meanwhile did not come.
                owner.askForOwner()
            }
        }
    }
    package func disconnected(_ reason: RelayError) {
        guard case .forget(let loss) = owner.state.onLoop.session.busVanished() else { return }
        owner.state.onLoop.connection = nil
        forgetOwner(loss) { $0.disconnected() }
        retry()
    }
    /// The owner, or the bus, is gone.
    func forgetOwner(
        _ loss: ServiceSession<HeldSignal>.Loss,
        _ leave: (inout StreamSubscriber.Machine) -> StreamSubscriber.Machine.Action
    ) {
        foreign.add(loss.dropped, ordering: .relaxed)
        owner.state.onLoop.features = []
        // What their inlets still have was published before it went.
        for stream in streams.all { stream.drain() }
        for stream in streams.all { stream.forgetOwner(leave) }
        rings.forgetOwner()
        pages.forgetOwner()
        calls.barriers.interrupt()
        calls.forgetOwner()
        calls.releaseReplies()
        // A relay that was not in step yet has no other state than before.
        sink.ownerGone()
        report(loss.standing)
    }
    private func close(_ end: ServiceSession<HeldSignal>.End, _ reason: RelayError) {
        guard case .end(let dropped) = end else { return }
        calls.completeHeld()
        owner.connection?.close()
        owner.state.onLoop.connection = nil
        foreign.add(dropped, ordering: .relaxed)
        calls.end(reason)
        calls.barriers.endAll(reason, isLast: true)
        for stream in streams.all { stream.end() }
        rings.forgetOwner()
    }
    func fail(_ end: ServiceSession<HeldSignal>.End, _ error: RelayError) {
        guard case .end = end else { return }
        sink.state(.invalidated(error))
        close(end, error)
    }

    // MARK: Signals

    package func signal(_ message: borrowing ReceivedMessage) {
        if message.hasSender("org.freedesktop.DBus") {
            guard let change = OwnerChange(message), change.name == service else { return }
            return ownerChanged(owner.state.onLoop.session.ownerChanged(to: change.newOwner))
        }
        switch owner.state.onLoop.session.verdict({ message.hasSender($0) }) {
        case .take:
            if calls.awaitsProgress, message.hasInterface(Stream1.name), message.hasMember(Stream1.progress) {
                return calls.progressed(message)
            }
            for stream in streams.all where message.hasPath(stream.address.path) {
                stream.signal(message)
            }
        case .hold: hold(message)
        // Anybody can send a signal of this name to us; only the owner's count.
        case .drop:
            foreign.add(1, ordering: .relaxed)
            noteStranger()
        }
    }
    /// Keeps what an owner sends of a stream until it is verified.
    private func hold(_ message: borrowing ReceivedMessage) {
        for stream in streams.all where message.hasPath(stream.address.path) {
            let isEvent = message.hasInterface(stream.interface)
            let isWord = message.hasInterface(Stream1.name) && message.hasSignature(Stream1.headSignature)
            guard isEvent || isWord, let member = message.member else { continue }
            let signal = HeldSignal(
                stream: stream, isEvent: isEvent, member: member, signature: Array(message.signature.utf8),
                body: message.body)
            owner.state.onLoop.session.hold(signal, cost: signal.body.count)
        }
    }
    package func replyDropped(from sender: String?) {
        // The owner's own: late, since its call was given up.
        if let sender, sender != "org.freedesktop.DBus", sender != owner.name { noteStranger() }
    }
    package func methodCall(_ call: IncomingCall) {
        noteStranger()
        owner.connection?.fail(
            call, ErrorNames.unknownObject, "nothing is exported here: this is a relay of \(service)")
    }

    /// Reports to a service that a reply is no longer on its way.
    package func replyReceived(from sender: String, serial: UInt32) {
        owner.connection?.sendReceived(serial, to: sender)
    }

    // MARK: States

    /// Nil: it is as it was reported last.
    func report(_ standing: ServiceSession<HeldSignal>.Standing?) {
        switch standing {
        case .connecting: sink.state(.connecting)
        case .active: sink.state(.active)
        case .interrupted: sink.state(.interrupted)
        case nil: break
        }
    }
}
