import Synchronization

/// A relay's session with its service: the connection to the bus, the owner of the service's name, the relay's states.
///
/// It alone touches `SessionState`. Streams, calls and pages have controllers of their own, which are handed the
/// session with every call, in a turn of the loop.
package final class SessionController: BusHandler {
    let service: String
    let bus: Bus
    let requirement: PeerRequirement
    let activation: EventRelay.Activation
    /// Interfaces that are durable whatever their service has reported yet.
    private let durable: Set<String>
    let sink: any SessionSink
    package let loop: BusLoop
    let state: LoopBound<SessionState>
    let transport: RingTransport
    let calls = CallBroker()
    let pages = PageBroker()
    /// What is to be followed, as far as the loop has not heard of it.
    private let follows = Mutex<[String: Set<String>?]>([:])
    /// Why there is no connection to the bus, after the last attempt; nil with one.
    let busFailure = Mutex<RelayError?>(nil)
    let foreign = Atomic<Int>(0)
    private let faults = Atomic<Int>(0)
    /// What positioned subscriptions dropped, by the interface.
    private let drops = Mutex<[String: DropCounts]>([:])
    /// The streams in their order, for code that counts without a turn.
    let measured = Mutex<[StreamController]>([])
    let accounts: AccountCache<SystemAccounts>
    let timing: RelayTiming

    init(
        _ service: String, _ bus: Bus, _ requirement: PeerRequirement, _ activation: EventRelay.Activation,
        _ durable: Set<String>, _ transport: RingTransport, _ timing: RelayTiming, _ sink: any SessionSink,
        _ loop: BusLoop
    ) {
        (self.service, self.bus, self.requirement, self.activation) = (service, bus, requirement, activation)
        (self.durable, self.transport, self.sink, self.loop) = (durable, transport, sink, loop)
        self.timing = timing
        accounts = AccountCache(of: SystemAccounts(), timing: timing.accounts)
        state = LoopBound(SessionState(timing), on: loop)
        // Here, on the caller's thread: a look-up may ask the network.
        requirement.lookUp(in: accounts)
    }
    /// Of rings that held what they cannot hold.
    var inletFaults: Int { faults.load(ordering: .relaxed) }

    // MARK: From any thread

    /// Where the positioned subscriptions to an interface count what they drop.
    func drops(of interface: String) -> DropCounts {
        drops.withLock { drops in
            if let known = drops[interface] { return known }
            let new = DropCounts()
            drops[interface] = new
            return new
        }
    }
    /// How many events the publisher's and the positioned subscriptions had no room for.
    var overflowed: Int { drops.withLock { $0.values.reduce(sink.overflowed) { $0 + $1.overflowed } } }

    func activate() {
        loop.execute { [self] in
            switch state.onLoop.session.activate() {
            case .ignored: break
            case .connect: connect()
            }
        }
    }
    func invalidate(then next: @escaping @Sendable () -> Void = {}) {
        loop.execute { [self] in
            close(state.onLoop.session.end(), RelayError(.unavailable, "the relay of \(service) was invalidated"))
            // Behind the calls that have just ended.
            loop.execute(next)
        }
    }
    func follow(_ interface: String, _ names: Set<String>?) {
        follows.withLock { $0[interface] = .some(names) }
        loop.execute { [self] in
            // The latest: a subscription that ends and another one that begins at once lose nothing between the two.
            guard let names = follows.withLock({ $0.removeValue(forKey: interface) }) else { return }
            startIfNeeded(by: stream(interface)) { $0.want(names, self) }
            settle()
            // What is no longer wanted keeps nobody waiting.
            calls.releaseReplies(self)
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
        feed.onRoom { [weak self] room in self?.execute { $0.found(room, member) } }
        source.onEnd { [weak self] in self?.execute { $0.remove(member, interface) } }
        loop.execute { [self] in
            if state.onLoop.session.isOver { return feed.finish() }
            startIfNeeded(by: stream(interface)) { $0.add(member, self) }
        }
    }
    func call(_ call: MethodCall, timeout: Duration, isCancellable: Bool = false) async throws -> BusReply {
        let ticket = CallTicket(isCancellable: isCancellable)
        let result: Result<BusReply, RelayError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                begin(call, timeout: timeout, ticket) { continuation.resume(returning: $0) }
            }
        } onCancel: {
            cancel(ticket)
        }
        return try result.get()
    }
    /// Sends a call, or lets it wait. The completion comes once, on the loop's thread.
    func begin(
        _ call: MethodCall, timeout: Duration, _ ticket: CallTicket,
        completion: @escaping @Sendable (Result<BusReply, RelayError>) -> Void
    ) {
        let waiting = WaitingCall(
            call: call, deadline: MonotonicClock.deadline(after: timeout), ticket: ticket, completion: completion)
        loop.execute { [self] in calls.admit(waiting, self) }
    }
    func cancel(_ ticket: CallTicket) { loop.execute { [self] in calls.cancel(ticket, self) } }
    /// A job for the loop's thread, which need not run when the session is gone by then.
    private func execute(_ job: @escaping @Sendable (SessionController) -> Void) {
        loop.execute { [weak self] in if let self { job(self) } }
    }

    // MARK: Streams

    private func stream(_ interface: String) -> StreamController {
        if let stream = state.onLoop.streams[interface] { return stream }
        let stream = StreamController(
            StreamAddress(service, interface), isDurable: durable.contains(interface), transport, sink)
        state.onLoop.streams[interface] = stream
        state.onLoop.streamsInOrder.append(stream)
        measured.withLock { $0.append(stream) }
        stream.begin(stream.shared, self)
        return stream
    }
    /// A service may have ended while nothing was wanted of it.
    private func startIfNeeded(by stream: StreamController, _ change: (StreamController) -> Void) {
        let wasWanted = stream.isWanted
        change(stream)
        if !wasWanted && stream.isWanted { startIfWanted() }
    }
    private func remove(_ member: StreamSubscriber, _ interface: String) {
        guard let stream = state.onLoop.streams[interface] else { return }
        stream.remove(member, self)
        settle()
        calls.releaseReplies(self)
    }
    private func found(_ room: ReplayBuffer.Room, _ member: StreamSubscriber) {
        if room.contains(.signals), let stream = stream(of: member) {
            stream.run(member.machine.resume(), member, self)
        }
        if room.contains(.page) { pages.readNext(self) }
    }

    // MARK: Connecting

    private func connect() {
        if state.onLoop.session.isOver { return }
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
                if !state.onLoop.hasReportedOutage, !state.onLoop.session.isOver {
                    state.onLoop.hasReportedOutage = true
                    sink.connectionFailed(error)
                }
                calls.endWaiting(error)
                calls.barriers.endAll(error, isLast: false, self)
                switch state.onLoop.session.connectionFailed() {
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
        schedule(after: delay) { $0.connect() }
    }
    private func connected(_ connection: BusConnection) {
        guard case .askForOwner = state.onLoop.session.connected() else { return connection.close() }
        state.onLoop.connection = connection
        state.onLoop.hasReportedOutage = false
        addOwnerRule()
        for stream in state.onLoop.streamsInOrder { stream.connected(self) }
        askBusForOwner()
    }
    private func addOwnerRule(isRepeated: Bool = false) {
        addMatch(.owner(of: service), "announce who owns \(service)") { session, isTaken in
            if !isTaken {
                let connection = session.state.onLoop.connection
                session.schedule(after: session.timing.retry) { [weak connection] session in
                    if let connection, session.state.onLoop.connection === connection {
                        session.addOwnerRule(isRepeated: true)
                    }
                }
            } else if isRepeated {
                // What was announced meanwhile did not come.
                session.askForOwner()
            }
        }
    }
    package func disconnected(_ reason: RelayError) {
        guard case .forget(let loss) = state.onLoop.session.busVanished() else { return }
        state.onLoop.connection = nil
        forgetOwner(loss) { $0.disconnected() }
        retry()
    }
    /// The owner, or the bus, is gone.
    func forgetOwner(
        _ loss: ServiceSession<HeldSignal>.Loss,
        _ leave: (inout StreamSubscriber.Machine) -> StreamSubscriber.Machine.Action
    ) {
        foreign.add(loss.dropped, ordering: .relaxed)
        state.onLoop.features = []
        let streams = state.onLoop.streamsInOrder
        // What their inlets still have was published before it went.
        for stream in streams { stream.drain(self) }
        for stream in streams { stream.forgetOwner(self, leave) }
        transport.forgetOwner()
        pages.forgetOwner()
        calls.barriers.interrupt(self)
        calls.releaseReplies(self)
        // A relay that was not in step yet has no other state than before.
        sink.ownerGone()
        report(loss.standing)
    }
    private func close(_ end: ServiceSession<HeldSignal>.End, _ reason: RelayError) {
        guard case .end(let dropped) = end else { return }
        calls.completeHeld()
        state.onLoop.connection?.close()
        state.onLoop.connection = nil
        foreign.add(dropped, ordering: .relaxed)
        calls.end(reason)
        calls.barriers.endAll(reason, isLast: true, self)
        for stream in state.onLoop.streamsInOrder { stream.end(self) }
        transport.forgetOwner()
    }
    /// Retrying will not help.
    func fail(_ error: RelayError) { fail(state.onLoop.session.end(), error) }
    func fail(_ end: ServiceSession<HeldSignal>.End, _ error: RelayError) {
        guard case .end = end else { return }
        sink.state(.invalidated(error))
        close(end, error)
    }

    // MARK: Signals

    package func signal(_ message: borrowing ReceivedMessage) {
        if message.hasSender("org.freedesktop.DBus") {
            guard let change = OwnerChange(message), change.name == service else { return }
            return ownerChanged(state.onLoop.session.ownerChanged(to: change.newOwner))
        }
        switch state.onLoop.session.verdict({ message.hasSender($0) }) {
        case .take:
            if calls.awaitsProgress, message.hasInterface(Stream1.name), message.hasMember(Stream1.progress) {
                return calls.progressed(message)
            }
            for stream in state.onLoop.streamsInOrder where message.hasPath(stream.address.path) {
                stream.signal(message, self)
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
        for stream in state.onLoop.streamsInOrder where message.hasPath(stream.address.path) {
            let isEvent = message.hasInterface(stream.interface)
            let isWord = message.hasInterface(Stream1.name) && message.hasSignature(Stream1.headSignature)
            guard isEvent || isWord, let member = message.member else { continue }
            let signal = HeldSignal(
                stream: stream, isEvent: isEvent, member: member, signature: Array(message.signature.utf8),
                body: message.body)
            state.onLoop.session.hold(signal, cost: signal.body.count)
        }
    }
    package func replyDropped(from sender: String?) {
        // The owner's own: late, since its call was given up.
        if let sender, sender != "org.freedesktop.DBus", sender != owner { noteStranger() }
    }
    package func methodCall(_ call: IncomingCall) {
        noteStranger()
        state.onLoop.connection?.fail(
            call, ErrorNames.unknownObject, "nothing is exported here: this is a relay of \(service)")
    }

    // MARK: States

    /// Active once all streams are in step. What the owner lacks is no matter of the connection: see
    /// `EventRelay.InterfaceState`.
    func settle() {
        if state.onLoop.streamsInOrder.allSatisfy(\.isSettled) { report(state.onLoop.session.settled()) }
    }
    /// Nil: it is as it was reported last.
    private func report(_ standing: ServiceSession<HeldSignal>.Standing?) {
        switch standing {
        case .connecting: sink.state(.connecting)
        case .active: sink.state(.active)
        case .interrupted: sink.state(.interrupted)
        case nil: break
        }
    }
    /// A ring held what it cannot hold.
    func noteFault() { faults.add(1, ordering: .relaxed) }
}
