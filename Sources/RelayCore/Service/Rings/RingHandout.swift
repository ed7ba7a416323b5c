import Glibc

/// `OpenRing`: gives the shared memory to peers that may read it. On the loop's thread.
final class RingHandout: Sendable {
    struct State {
        var queue: OpenRingQueue<Request>
        var pages = WaitPages()
        /// Those that were refused a place, and are on the bus.
        var lacking: Set<String> = []
        /// The service ends, and nobody has a ring.
        var isClosed = false
    }
    struct Request {
        let call: IncomingCall
        let interface: ExportedInterface
    }
    let state: LoopBound<State>
    private let waker = RingWaker()
    private let interfaces: [ExportedInterface]
    private let directory: PeerDirectory
    private let replies: ReplySender
    private let room: DescriptorRoom
    private let ledger: PeerLedger
    private let loop: BusLoop

    init(
        _ interfaces: [ExportedInterface], _ directory: PeerDirectory, _ replies: ReplySender, _ room: DescriptorRoom,
        _ ledger: PeerLedger, _ loop: BusLoop, _ timing: ServiceTiming
    ) {
        (self.interfaces, self.directory, self.replies, self.room) = (interfaces, directory, replies, room)
        (self.ledger, self.loop) = (ledger, loop)
        state = LoopBound(State(queue: OpenRingQueue(ledger, patience: timing.descriptorCall)), on: loop)
        room.serveRings { [weak self] reader in self?.serve(reader) ?? true }
    }
    /// No call waits for its turn.
    var isIdle: Bool { state.onLoop.queue.isIdle }
    /// Gives no ring any more.
    func close() { state.onLoop.isClosed = true }

    func open(_ call: IncomingCall, _ interface: ExportedInterface) {
        guard call.wantsReply else { return }
        guard interface.stream.mayHaveRing, call.connection.canPassDescriptors else {
            let text = "\(interface.name) has no ring, or this bus passes no descriptors: its events come as signals"
            return replies.fail(call, .notFound, text)
        }
        // What peers have is counted by user: so the user is looked up even where anyone may have a ring.
        directory.credentials(of: call) { [weak self] result in
            guard let self else { return }
            let credentials: PeerCredentials
            do throws(RelayError) {
                credentials = try result.get()
            } catch {
                return refuse(call, interface, error.code, error.message)
            }
            // Unknown: it has left, and will not be seen to leave again.
            guard let user = credentials.userID else {
                interface.stream.withRing { $0.requests.refused += 1 }
                return replies.fail(call, .notPermitted, "OpenRing needs a peer whose user the bus reports")
            }
            // Before it waits for a turn: a thousand that get no ring must not delay those that do.
            if let refusal = placeRefusal(call.sender) { return refusePlace(call, interface, refusal) }
            let request = Request(call: call, interface: interface)
            do throws(PeerLedger.Refusal) {
                try state.onLoop.queue.ask(call.sender, user: user, request, now: MonotonicClock.now)
            } catch { return putOff(call, interface, error.message) }
            room.grant()
        }
    }
    /// Answers as many as may be unread. Returns whether no call waits any more.
    private func serve(_ reader: String?) -> Bool {
        if let reader { state.onLoop.queue.retry(reader) }
        while let turn = state.onLoop.queue.next() { answer(turn.request, turn.charge) }
        while let request = state.onLoop.queue.expired(now: MonotonicClock.now) {
            let refusal = ledger.refusal(.ringReplies, 1, for: request.call.sender)
            let text = refusal?.message ?? "its turn did not come: ask again later"
            putOff(request.call, request.interface, text)
        }
        return isIdle
    }
    private func answer(_ request: Request, _ charge: PeerLedger.Charge) {
        let call = request.call
        if state.onLoop.isClosed { return refuse(call, request.interface, .unavailable, "the service has just ended") }
        // Others may have taken the last places while it waited.
        if let refusal = placeRefusal(call.sender) { return refusePlace(call, request.interface, refusal) }
        settlePage(of: call.sender)
        let wasReading = request.interface.stream.hasReader(call.sender)
        do throws(RelayError) {
            let page = try state.onLoop.pages.page(of: call.sender, ledger)
            let share = try share(for: call.sender, page, request.interface.stream)
            try replies.deliver(to: call, charge) { serial throws(RelayError) in
                try call.connection.reply(to: call, descriptors: [share.descriptor, page.descriptor], serial: serial)
            }
        } catch {
            // It has no ring, and gets signals.
            if !wasReading { request.interface.stream.closeRing(for: call.sender) }
            if error.code != .limitsExceeded {
                let remedy = "it gets signals instead; the service needs memory and descriptors for rings"
                replies.report(
                    .ringUnavailable,
                    "no ring of \(request.interface.name) for \(call.sender): \(error.message); \(remedy)", of: call,
                    error.code)
            }
            refuse(call, request.interface, error.code, error.message)
        }
    }
    /// A description of the ring for one peer.
    ///
    /// - Parameter make: for tests of what fails.
    func share(
        for peer: String, _ page: WaitPage, _ stream: PublishedStream,
        make: (RingWriter) throws(RelayError) -> RingShare = { ring throws(RelayError) in try RingShare(ring) }
    ) throws(RelayError) -> RingShare {
        let wasReading = stream.hasReader(peer)
        let ring = try stream.openRing(for: peer, page, waker, loop)
        do throws(RelayError) { return try make(ring) } catch {
            // A process of this user has changed the file's mode. To change it back would take a lock that such a
            // process can hold for ever.
            guard (error.cause as? SystemError)?.code == EACCES, stream.replaceRing(ring, for: peer) else {
                throw error
            }
            do throws(RelayError) { return try make(try stream.openRing(for: peer, page, waker, loop)) } catch {
                stream.giveUpReplacement(for: peer, wasReading: wasReading)
                throw error
            }
        }
    }
    /// Why a peer that has no wait page gets none: they are its place at all rings of the service.
    private func placeRefusal(_ peer: String) -> PeerLedger.Refusal? {
        state.onLoop.pages.page(of: peer) == nil ? ledger.refusal(.waitPages, 1, for: peer) : nil
    }
    /// No fault of the peer's, so that it is counted, and not reported: a thousand front ends would fill the log.
    private func refusePlace(_ call: IncomingCall, _ interface: ExportedInterface, _ refusal: PeerLedger.Refusal) {
        interface.stream.withRing {
            $0.requests.refused += 1
            $0.lacking.insert(call.sender)
        }
        state.onLoop.lacking.insert(call.sender)
        let held = "\(refusal.held) of at most \(refusal.bound) places"
        let holder =
            if case .user(let user?) = refusal.holder { "the peers of user \(user) have" } else { "all peers have" }
        replies.fail(
            call, .limitsExceeded,
            "no place at the ring of \(interface.name): \(holder) \(held); its events come as signals until one is free"
        )
    }
    /// Others have used up what may be unread or wait: that passes, unlike a want of places.
    private func putOff(_ call: IncomingCall, _ interface: ExportedInterface, _ message: String) {
        let text = "OpenRing of \(call.sender) at \(interface.name) was put off: \(message)"
        replies.note(.limitsExceeded, text, of: call, .limitsExceeded)
        refuse(call, interface, .unavailable, message)
    }
    private func refuse(
        _ call: IncomingCall, _ interface: ExportedInterface, _ code: RelayError.Code, _ message: String
    ) {
        interface.stream.withRing { $0.requests.refused += 1 }
        replies.refuse(call, code, message)
    }
    /// A peer may not read an interface any more, or does not want to: what it asked for before is refused.
    func withdraw(_ peer: String, _ interface: ExportedInterface, _ code: RelayError.Code, _ text: String) {
        let requests = state.onLoop.queue.withdraw(peer) { $0.interface.name == interface.name }
        for request in requests { refuse(request.call, interface, code, text) }
    }
    /// A peer does not read an interface's ring: what it asked for before is no longer wanted, either.
    func giveBack(_ call: IncomingCall, _ interface: ExportedInterface) {
        withdraw(call.sender, interface, .cancelled, "CloseRing came behind it")
        interface.stream.closeRing(for: call.sender, isReturned: true)
        replies.reply(to: call)
    }
    /// A peer that has sealed its page has mapped it, and is woken from now on. Nobody looks at the page before that.
    func settlePage(of peer: String) {
        guard let page = state.onLoop.pages.page(of: peer), !page.isSettled, page.settle() else { return }
        for interface in interfaces { interface.stream.wakeReader(peer) }
    }
    /// A peer has left: nobody waits for it, or looks at its page any more.
    func depart(_ peer: String) {
        state.onLoop.queue.depart(peer)
        if state.onLoop.lacking.remove(peer) != nil {
            for interface in interfaces { interface.stream.withRing { _ = $0.lacking.remove(peer) } }
        }
        guard state.onLoop.pages.depart(peer) != nil else { return }
        for interface in interfaces { interface.stream.closeRing(for: peer, hasLeft: true) }
    }
}
