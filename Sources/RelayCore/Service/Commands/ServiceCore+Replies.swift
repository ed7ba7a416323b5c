import Synchronization

/// Where replies leave: counted, and bounded by what their peers read.
extension ServiceCore {
    /// A reply that waits until its peer has read others.
    struct WaitingReply {
        let peer: String
        let bytes: Int
        /// While it waits.
        let charge: PeerLedger.Charge
        let deadline: UInt64
        let completion: @Sendable (Bool) -> Void
    }
    /// What reports how much a bus holds for a connection: dbus-daemon, dbus-broker, nothing.
    enum UnreadSource { case connection, peers, nobody }
    private static let sweep = 16

    /// Answers a call.
    func reply(
        to call: IncomingCall, _ connection: BusConnection, _ signature: Signature = .empty, body: [UInt8] = []
    ) {
        connection.reply(to: call, signature, body: body)
        count(call, body.count, connection)
    }
    /// An answer of so many bytes has gone out.
    func count(_ call: IncomingCall, _ bytes: Int, _ connection: BusConnection) {
        guard call.wantsReply else { return }
        let question = unread.withLock { unread in
            unread.sent(call.sender, bytes: bytes)
            return unread.question(about: call.sender)
        }
        if let question { ask(question, connection) }
    }
    /// Sends a reply that its caller confirms: what it holds counts until then.
    ///
    /// - Parameter bytes: its own, if they count as those of other replies do.
    func deliver(
        to call: IncomingCall, _ charge: PeerLedger.Charge?, bytes: Int = 0, _ connection: BusConnection,
        send: (UInt32) throws(RelayError) -> Void
    ) throws(RelayError) {
        let question = try unread.withLock { unread throws(RelayError) in
            try unread.deliver(to: call.sender, charge, bytes: bytes, send: send)
            return unread.question(about: call.sender)
        }
        if let question { ask(question, connection) }
    }
    /// Whether a call is processed; refuses it once if not. On the loop's thread.
    func isHeard(_ call: IncomingCall, _ connection: BusConnection) -> Bool {
        // It gets no answer in any case.
        if !call.wantsReply { return true }
        switch unread.withLock({ $0.call(call.sender) }) {
        case .admitted: return true
        case .refused(let reason):
            refuse(call, .limitsExceeded, reason, connection)
            askMore(connection)
            return false
        case .ignored:
            ignoredCalls.add(1, ordering: .relaxed)
            return false
        }
    }
    /// Waits until a reply of so many bytes may be sent; false if it may not, because nothing was read for long.
    ///
    /// Not on the loop's thread. One reply of a peer waits at a time, as its commands run one at a time.
    func hasRoom(for call: IncomingCall, bytes: Int, _ connection: BusConnection) async -> Bool {
        if !call.wantsReply || unread.withLock({ $0.admits(call.sender, bytes: bytes) }) { return true }
        return await withCheckedContinuation { continuation in
            loop.execute { [self] in
                guard !state.onLoop.isStopping, let charge = try? ledger.charge(.heldReplies, bytes, to: call.sender)
                else { return continuation.resume(returning: false) }
                let held = WaitingReply(
                    peer: call.sender, bytes: bytes, charge: charge,
                    deadline: MonotonicClock.deadline(after: timing.reply)
                ) { continuation.resume(returning: $0) }
                hold(held, connection)
            }
        }
    }

    // MARK: On the loop's thread

    private func hold(_ held: WaitingReply, _ connection: BusConnection) {
        state.onLoop.heldReplies.append(held)
        releaseReplies()
        askMore(connection)
        loop.schedule(after: timing.reply + .milliseconds(1)) { [weak self] in self?.releaseReplies() }
    }
    /// Lets those go that may be sent now, in their order, and those that have waited long enough.
    private func releaseReplies() {
        if state.onLoop.heldReplies.isEmpty { return }
        let now = MonotonicClock.now
        var left: [WaitingReply] = []
        for held in state.onLoop.heldReplies {
            // A released reply is sent at once, on another thread: two in a moment may both find room for one.
            if unread.withLock({ $0.admits(held.peer, bytes: held.bytes) }) {
                held.completion(true)
            } else if held.deadline <= now {
                held.completion(false)
            } else {
                left.append(held)
            }
        }
        state.onLoop.heldReplies = left
    }
    /// A peer has left.
    func forgetReplies(to peer: String) {
        unread.withLock { $0.depart(peer) }
        wasRead(by: peer)
    }
    /// `Received`: a caller has read the reply of a serial. At any object: what is counted is the connection's.
    func received(_ call: IncomingCall, _ connection: BusConnection) {
        guard hasSignature(Stream1.receivedSignature, call, connection) else { return }
        let serial = call.body.withUnsafeBytes { body in
            var reader = WireReader(body)
            return try? reader.uint32()
        }
        if let serial, unread.withLock({ $0.received(serial, by: call.sender) }) { wasRead(by: call.sender) }
        reply(to: call, connection)
    }
    /// There may be room for what waits.
    func wasRead(by peer: String) {
        releaseReplies()
        state.onLoop.handouts.retry(peer)
        grantRoom()
    }
    /// The end of the run: nobody waits for a peer any more.
    func releaseAllReplies() {
        state.onLoop.isStopping = true
        for held in state.onLoop.heldReplies { held.completion(false) }
        state.onLoop.heldReplies = []
        for wait in state.onLoop.descriptorWaits { wait.completion(full(wait)) }
        state.onLoop.descriptorWaits = []
    }

    // MARK: Asking the bus

    private func ask(_ question: UnreadReplies.Question, _ connection: BusConnection) {
        loop.execute { [weak self] in
            guard let self else { return }
            // Its share of its user's is known from now on.
            directory.credentials(of: question.peer, bytes: 0, connection) { _ in }
            askBus(question, connection)
        }
    }
    /// Somebody waits for what other peers read: they are asked about before it would be their turn.
    private func askMore(_ connection: BusConnection) {
        for question in unread.withLock({ $0.questions(atMost: Self.sweep) }) { ask(question, connection) }
    }
    /// Somebody waits for what replies of others hold.
    func askAboutDeliveries(_ connection: BusConnection) {
        for question in unread.withLock({ $0.questionsAboutDeliveries() }) { askBus(question, connection) }
    }
    private func askBus(_ question: UnreadReplies.Question, _ connection: BusConnection) {
        let source = state.onLoop.unreadSource
        guard let request = try? BusFigures.question(to: source, about: question.peer) else {
            return unread.withLock { $0.unanswered(question) }
        }
        connection.send(request, timeout: timing.figures) { [weak self] result in
            guard let self else { return }
            do throws(RelayError) {
                let held = try BusFigures.held(for: question.peer, result.get(), from: source)
                unread.withLock { $0.answered(question, held: held) }
            } catch {
                if !BusFigures.isPassing(error) { return refused(by: source, question, connection) }
                unread.withLock { $0.unanswered(question) }
            }
            wasRead(by: question.peer)
            loop.schedule(after: timing.replyLook) { [weak self] in
                guard let self else { return }
                if !state.onLoop.heldReplies.isEmpty { askMore(connection) }
                if let next = unread.withLock({ $0.question(about: question.peer) }) { askBus(next, connection) }
            }
        }
    }
    /// The bus does not report it, or this one does not.
    private func refused(by source: UnreadSource, _ question: UnreadReplies.Question, _ connection: BusConnection) {
        if state.onLoop.unreadSource == source { state.onLoop.unreadSource = source == .connection ? .peers : .nobody }
        if state.onLoop.unreadSource != .nobody { return askBus(question, connection) }
        unread.withLock { unread in
            unread.isKnowable = false
            unread.unanswered(question)
        }
        releaseReplies()
        notices.report(
            .unreadUnknown, .warning,
            "this bus does not say what it holds for a peer: one that reads no replies can fill it; let the service's user call "
                + "org.freedesktop.DBus.Debug.Stats (docs/OPERATING.md)")
    }
}
