import Synchronization
import RelayWire

/// Where replies leave: counted, and bounded by what their peers read.
final class ReplySender: Sendable {
    struct State {
        var held: [WaitingReply] = []
        var source = UnreadSource.connection
        var isStopping = false
        fileprivate var onRead: (@Sendable (_ peer: String) -> Void)?
    }
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
    private static let longestMessage = 2_048
    let state: LoopBound<State>
    /// Commands answer, and the log's threads.
    let unread: Mutex<UnreadReplies>
    /// Calls that got no answer: their peer had been refused, and has read nothing since.
    let ignoredCalls = Atomic<UInt64>(0)
    /// Values of progress that were too large, or that a later one replaced before there was room.
    let leftOutProgress = Atomic<UInt64>(0)
    private let tree: ObjectTree
    private let connection: LoopBound<BusConnection?>
    private let directory: PeerDirectory
    private let ledger: PeerLedger
    let loop: BusLoop
    private let notices: NoticeReporter
    let timing: ServiceTiming

    init(
        _ tree: ObjectTree, _ connection: LoopBound<BusConnection?>, _ directory: PeerDirectory, _ ledger: PeerLedger,
        _ loop: BusLoop,
        _ notices: NoticeReporter, _ timing: ServiceTiming
    ) {
        (self.tree, self.connection, self.directory, self.ledger) = (tree, connection, directory, ledger)
        (self.loop, self.notices, self.timing) = (loop, notices, timing)
        unread = Mutex(UnreadReplies(ledger))
        state = LoopBound(State(), on: loop)
    }

    // MARK: Replies

    /// Answers a call.
    func reply(to call: IncomingCall, _ signature: Signature = .empty, body: [UInt8] = []) {
        call.connection.reply(to: call, signature, body: body)
        count(call, body.count)
    }
    /// Answers a call with what `write` writes; or with an error, if that cannot be carried.
    func reply(
        to call: IncomingCall, _ signature: String, capacity: Int = 256,
        _ write: (inout WireWriter) throws(RelayError) -> Void
    ) {
        var body = WireWriter(capacity: capacity)
        do throws(RelayError) {
            try write(&body)
            reply(to: call, try Signature(signature), body: body.bytes)
        } catch { fail(call, error.code, error.message) }
    }
    /// Answers a call with values.
    func reply(to call: IncomingCall, _ values: [DBusValue]) {
        do throws(RelayError) {
            reply(to: call, try DBusValue.signature(of: values), body: try DBusValue.body(values))
        } catch { fail(call, error.code, error.message) }
    }
    /// An answer of so many bytes has gone out.
    func count(_ call: IncomingCall, _ bytes: Int) {
        guard call.wantsReply else { return }
        let question = unread.withLock { unread in
            unread.sent(call.sender, bytes: bytes)
            return unread.question(about: call.sender)
        }
        if let question { ask(question) }
    }
    /// Sends a reply that its caller confirms: what it holds counts until then.
    ///
    /// - Parameter bytes: its own, if they count as those of other replies do.
    func deliver(
        to call: IncomingCall, _ charge: PeerLedger.Charge?, bytes: Int = 0, send: (UInt32) throws(RelayError) -> Void
    ) throws(RelayError) {
        let question = try unread.withLock { unread throws(RelayError) in
            try unread.deliver(to: call.sender, charge, bytes: bytes, send: send)
            return unread.question(about: call.sender)
        }
        if let question { ask(question) }
    }
    /// A reply to a peer is about to leave: what was published before is to be seen before it.
    func prepareReply(to peer: String) { for stream in tree.streams { stream.prepareReply(to: peer) } }

    // MARK: Errors

    /// Refuses a call, and reports it.
    func refuse(_ call: IncomingCall, _ code: RelayError.Code, _ message: String) {
        let kinds: [RelayError.Code: Notice.Kind] = [.limitsExceeded: .limitsExceeded, .notPermitted: .notPermitted]
        if let kind = kinds[code] {
            note(kind, "\(call.member) of \(call.sender) at \(call.path) was refused: \(message)", of: call, code)
        }
        fail(call, code, message)
    }
    /// Counts a refusal of an interface's call, and reports it.
    func note(
        _ kind: Notice.Kind, _ text: @autoclosure () -> String, of call: IncomingCall, _ code: RelayError.Code
    ) {
        tree.interface(at: call.path)?.stream.state.withLock { $0.refusals.count(kind) }
        report(kind, text(), of: call, code)
    }
    /// Reports what became of a call.
    func report(
        _ kind: Notice.Kind, _ text: @autoclosure () -> String, of call: IncomingCall, _ code: RelayError.Code,
        cause: (any Error)? = nil
    ) {
        notices.report(
            kind, .warning, text(),
            of: Notice.Subject(interface: tree.interface(at: call.path)?.name, peer: call.sender, code: code),
            cause: cause)
    }
    func fail(_ call: IncomingCall, _ code: RelayError.Code, _ message: String) {
        fail(call, ErrorNames.name(for: code), message)
    }
    /// Answers with an error whose text the bus takes for certain: an answer that is refused would be none.
    func fail(_ call: IncomingCall, _ name: String, _ message: String) {
        var text = String(message.unicodeScalars.prefix(Self.longestMessage).map { $0 == "\0" ? " " : Character($0) })
        if text.unicodeScalars.count < message.unicodeScalars.count { text += "…" }
        let bytes = name.utf8.count + text.utf8.count
        guard call.wantsReply, call.interface == Stream1.name, Stream1.confirmed.contains(call.member) else {
            call.connection.fail(call, name, text)
            return count(call, bytes)
        }
        // Of such a refusal its caller reports that it has read it: so what it never got is no longer counted.
        try? deliver(to: call, nil, bytes: bytes) { call.connection.fail(call, name, text, serial: $0) }
    }
    /// There is no such method.
    func unknown(_ call: IncomingCall) {
        let interface = call.interface.map { "\($0)." } ?? ""
        fail(call, ErrorNames.unknownMethod, "\(call.path) has no method \(interface)\(call.member)")
    }
    /// Whether the arguments are of the right types; answers if not.
    func hasSignature(_ expected: String, _ call: IncomingCall) -> Bool {
        if call.signature == expected { return true }
        fail(call, ErrorNames.invalidArgs, "\(call.member) takes '\(expected)', not '\(call.signature)'")
        return false
    }

    // MARK: Bounds

    /// Whether a call is processed; refuses it once if not. On the loop's thread.
    func isHeard(_ call: IncomingCall) -> Bool {
        // It gets no answer in any case.
        if !call.wantsReply { return true }
        switch unread.withLock({ $0.call(call.sender) }) {
        case .admitted: return true
        case .refused(let reason):
            refuse(call, .limitsExceeded, reason)
            askMore()
            return false
        case .ignored:
            ignoredCalls.add(1, ordering: .relaxed)
            return false
        }
    }
    /// Waits until a reply of so many bytes may be sent; false if it may not, because nothing was read for long.
    ///
    /// Not on the loop's thread. One reply of a peer waits at a time, as its commands run one at a time.
    func hasRoom(for call: IncomingCall, bytes: Int) async -> Bool {
        if !call.wantsReply || unread.withLock({ $0.admits(call.sender, bytes: bytes) }) { return true }
        return await withCheckedContinuation { continuation in
            loop.execute { [self] in
                guard !state.onLoop.isStopping, let charge = try? ledger.charge(.heldReplies, bytes, to: call.sender)
                else { return continuation.resume(returning: false) }
                let held = WaitingReply(
                    peer: call.sender, bytes: bytes, charge: charge,
                    deadline: MonotonicClock.deadline(after: timing.reply)
                ) { continuation.resume(returning: $0) }
                hold(held)
            }
        }
    }

    // MARK: On the loop's thread

    private func hold(_ held: WaitingReply) {
        state.onLoop.held.append(held)
        releaseReplies()
        askMore()
        loop.schedule(after: timing.reply + .milliseconds(1)) { [weak self] in self?.releaseReplies() }
    }
    /// Lets those go that may be sent now, in their order, and those that have waited long enough.
    private func releaseReplies() {
        if state.onLoop.held.isEmpty { return }
        let now = MonotonicClock.now
        var left: [WaitingReply] = []
        for held in state.onLoop.held {
            // A released reply is sent at once, on another thread: two in a moment may both find room for one.
            if unread.withLock({ $0.admits(held.peer, bytes: held.bytes) }) {
                held.completion(true)
            } else if held.deadline <= now {
                held.completion(false)
            } else {
                left.append(held)
            }
        }
        state.onLoop.held = left
    }
    /// Calls back when a peer has read something, or has left: there may be room for what waits.
    func onRead(_ body: @escaping @Sendable (_ peer: String) -> Void) { loop.withTurn { state.onLoop.onRead = body } }
    private func wasRead(by peer: String) {
        releaseReplies()
        state.onLoop.onRead?(peer)
    }
    /// A peer has left.
    func depart(_ peer: String) {
        unread.withLock { $0.depart(peer) }
        wasRead(by: peer)
    }
    /// `Received`: a caller has read the reply of a serial. At any object: what is counted is the connection's.
    func received(_ call: IncomingCall) {
        guard hasSignature(Stream1.receivedSignature, call) else { return }
        let serial = call.read { try $0.uint32() }
        if let serial, unread.withLock({ $0.received(serial, by: call.sender) }) { wasRead(by: call.sender) }
        reply(to: call)
    }
    /// The end of the run: nobody waits for a peer any more.
    func stop() {
        state.onLoop.isStopping = true
        for held in state.onLoop.held { held.completion(false) }
        state.onLoop.held = []
    }

    // MARK: Asking the bus

    private func ask(_ question: UnreadReplies.Question) {
        loop.execute { [weak self] in
            guard let self, let connection = connection.onLoop else { return }
            // Its share of its user's is known from now on.
            directory.credentials(of: question.peer, bytes: 0, connection) { _ in }
            askBus(question)
        }
    }
    /// Somebody waits for what other peers read: they are asked about before it would be their turn.
    private func askMore() {
        for question in unread.withLock({ $0.questions(atMost: Self.sweep) }) { ask(question) }
    }
    /// Somebody waits for what replies of others hold.
    func askAboutDeliveries() {
        for question in unread.withLock({ $0.questionsAboutDeliveries() }) { askBus(question) }
    }
    private func askBus(_ question: UnreadReplies.Question) {
        let source = state.onLoop.source
        guard let connection = connection.onLoop,
            let request = try? BusFigures.question(to: source, about: question.peer)
        else {
            return unread.withLock { $0.unanswered(question) }
        }
        connection.send(request, timeout: timing.figures) { [weak self] result in
            guard let self else { return }
            do throws(RelayError) {
                let held = try BusFigures.held(for: question.peer, result.get(), from: source)
                unread.withLock { $0.answered(question, held: held) }
            } catch {
                if !BusFigures.isPassing(error) { return refused(by: source, question) }
                unread.withLock { $0.unanswered(question) }
            }
            wasRead(by: question.peer)
            loop.schedule(after: timing.replyLook) { [weak self] in
                guard let self else { return }
                if !state.onLoop.held.isEmpty { askMore() }
                if let next = unread.withLock({ $0.question(about: question.peer) }) { askBus(next) }
            }
        }
    }
    /// The bus does not report it, or this one does not.
    private func refused(by source: UnreadSource, _ question: UnreadReplies.Question) {
        if state.onLoop.source == source { state.onLoop.source = source == .connection ? .peers : .nobody }
        if state.onLoop.source != .nobody { return askBus(question) }
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
