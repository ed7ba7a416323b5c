import Synchronization

/// polkit: who it is, what it says, and when it says something else. On the loop's thread.
extension ServiceCore {
    /// What is known of polkit's authority.
    struct Authority {
        var owner = PolkitOwner()
        var waiters: [@Sendable (Result<String, RelayError>) -> Void] = []
        var recheck = Recheck()
        /// How many changes of its mind were announced, or found.
        var changes: UInt64 = 0
        /// Those of calls.
        var questions = PolkitQueue()
        /// One of them is being sent: the next one comes behind it.
        var isAsking = false
        var hasRoundTimer = false
    }
    /// A peer that has events because polkit permitted it.
    struct AuthorisedPeer {
        let credentials: PeerCredentials
        var interfaces: Set<String> = []
    }
    /// A round over all peers that have events because polkit permitted it.
    struct Recheck {
        var left: [(peer: String, interface: String)] = []
        /// Questions that are not answered.
        var open = 0
        /// Something has changed since the round began.
        var isDue = false
        /// Something had changed before it.
        var isAnnounced = false
        var isRunning: Bool { open > 0 || !left.isEmpty }
    }
    /// How many questions of a round are open at once, beside those of calls (`PolkitQueue`).
    private static let openAtOnce = 8
    private static let attempts = 3
    /// How often the bus may take no question of a round before that is a failure as any other. A peer that fills
    /// polkit's queue on the bus must not keep for ever what a change may have withdrawn.
    static let attemptsWithoutRoom = 30

    var needsPolkit: Bool {
        interfaces.contains { $0.requirements.contains(where: \.needsPolkit) }
    }

    // MARK: Asking

    /// Asks polkit about a peer. The completion comes once.
    ///
    /// - Parameter id: by which an interactive question can be withdrawn.
    func askPolkit(
        _ action: String, of peer: String, isInteractive: Bool, _ id: UInt64, _ connection: BusConnection,
        completion: @escaping @Sendable (Result<Polkit.Answer, RelayError>) -> Void
    ) {
        let time = isInteractive ? timing.prompt : timing.authority
        findAuthority(connection) { [weak self] found in
            do throws(RelayError) {
                let owner = try found.get()
                let question = try Polkit.question(
                    action, of: peer, isInteractive: isInteractive, cancellation: isInteractive ? "\(id)" : "",
                    to: owner)
                connection.send(question, timeout: time) { [weak self] result in
                    if case .failure(let error) = result {
                        if error.code == .timedOut, isInteractive { self?.cancelQuestion(id) }
                        self?.state.onLoop.authority.owner.failed(error, asking: owner)
                    }
                    // Another connection is polkit by now, perhaps, by other rules: the former one's word permits nothing.
                    let isFormer = self?.state.onLoop.authority.owner.last != owner
                    let answer = result.flatMap { reply in
                        Result { () throws(RelayError) in
                            if isFormer { throw RelayError(.unavailable, "another polkit has begun meanwhile") }
                            return try Polkit.answer(reply)
                        }
                    }
                    completion(answer.mapError { Self.unreachable($0, action) })
                }
            } catch {
                completion(.failure(Self.unreachable(error, action)))
            }
        }
    }
    private static func unreachable(_ error: RelayError, _ action: String) -> RelayError {
        // It says so itself: the action is not declared, or not this service's to ask about.
        let remedy =
            (error.cause as? RemoteError)?.name.hasPrefix("org.freedesktop.PolicyKit1.Error.") == true
            ? " (the action's file has to be installed, and to name this service's user: see docs/OPERATING.md)" : ""
        return RelayError(
            .unavailable, "polkit did not answer for '\(action)': \(error.message)\(remedy)", cause: error)
    }
    /// The bus did not take the question: too many are open.
    private static func hasNoRoom(_ error: RelayError) -> Bool {
        let remote = (error.cause as? RelayError)?.cause as? RemoteError
        return remote?.name == "org.freedesktop.DBus.Error.LimitsExceeded"
    }
    /// Withdraws a question that a person may be looking at.
    func cancelQuestion(_ id: UInt64) {
        guard let connection = connection.onLoop, let owner = state.onLoop.authority.owner.last,
            let request = try? Polkit.cancellation("\(id)", to: owner)
        else { return }
        connection.send(request) { _ in }
    }
    /// The authority's unique name: what is asked of that, no other connection can answer.
    private func findAuthority(
        _ connection: BusConnection, _ completion: @escaping @Sendable (Result<String, RelayError>) -> Void
    ) {
        if let owner = state.onLoop.authority.owner.present { return completion(.success(owner)) }
        state.onLoop.authority.waiters.append(completion)
        if state.onLoop.authority.waiters.count > 1 { return }
        var start = WireWriter()
        do throws(RelayError) {
            try start.string(Polkit.name)
            start.uint32(0)
            connection.send(.toBus("StartServiceByName", try Signature("su"), body: start.bytes)) { [weak self] _ in
                // Whether it could be started or not: it may be there.
                self?.askOwner(connection) { [weak self] in self?.foundAuthority($0) }
            }
        } catch {
            foundAuthority(.failure(error))
        }
    }
    private func askOwner(
        _ connection: BusConnection, _ completion: @escaping @Sendable (Result<String, RelayError>) -> Void
    ) {
        var body = WireWriter()
        do throws(RelayError) {
            try body.string(Polkit.name)
            let question = MethodCall.toBus("GetNameOwner", try Signature("s"), body: body.bytes)
            connection.send(question, timeout: timing.authority) { result in
                completion(
                    result.flatMap { reply in
                        Result { () throws(RelayError) in try reply.read("s") { try $0.string() } }
                    })
            }
        } catch {
            completion(.failure(error))
        }
    }
    private func foundAuthority(_ result: Result<String, RelayError>) {
        if state.onLoop.authority.owner.answered(result) { recheckAll() }
        let waiters = state.onLoop.authority.waiters
        state.onLoop.authority.waiters = []
        for waiter in waiters { waiter(result) }
    }

    // MARK: Changes

    /// A signal of polkit, or about its name. Returns whether it was one.
    func authoritySignal(_ message: borrowing ReceivedMessage) -> Bool {
        if let change = OwnerChange(message), change.name == Polkit.name {
            if state.onLoop.authority.owner.announced(change.newOwner) { recheckAll() }
            return true
        }
        guard message.hasInterface(Polkit.interface), message.hasMember("Changed") else { return false }
        // Anybody may send one of this name to this connection.
        guard let sender = message.sender else { return true }
        switch state.onLoop.authority.owner.heard(from: sender) {
        case .recheck: recheckAll()
        case .ask: verifyAuthority()
        case .nothing: break
        }
        return true
    }
    /// Asks the bus who polkit is, at most once a `pace`, however many strangers send what polkit would. The bus's
    /// answer counts, not the signal.
    private func verifyAuthority() {
        guard let connection = connection.onLoop else { return }
        askOwner(connection) { [weak self] result in
            guard let self else { return }
            if state.onLoop.authority.owner.answered(result) { recheckAll() }
            loop.schedule(after: timing.recheck) { [weak self] in
                guard let self, state.onLoop.authority.owner.rested() else { return }
                verifyAuthority()
            }
        }
    }
    /// What a peer has for longer than one reply.
    private static let lasting: Set<String> = ["Attach", "OpenRing", "OpenReplay"]
    /// A peer may read events because polkit said so.
    func noteAuthorised(_ entry: CallGate.Entry) {
        guard Self.lasting.contains(entry.call.member), let interface = tree.interface(at: entry.call.path) else {
            return
        }
        state.onLoop.authorised[entry.peer, default: AuthorisedPeer(credentials: entry.credentials)]
            .interfaces.insert(interface.name)
        orderRound()
    }
    /// `Changed` may be lost, as any message of the bus: so what rests on polkit's answers is asked for now and then.
    private func orderRound() {
        if state.onLoop.authority.hasRoundTimer || state.onLoop.authorised.isEmpty && !hasDepartedReaders { return }
        state.onLoop.authority.hasRoundTimer = true
        loop.schedule(after: timing.permissions) { [weak self] in
            guard let self else { return }
            state.onLoop.authority.hasRoundTimer = false
            recheckAll(isAnnounced: false)
            orderRound()
        }
    }
    /// Asks again about every peer that has events by polkit's word.
    ///
    /// - Parameter isAnnounced: whether polkit may have changed its mind. If not, only a clear answer counts.
    private func recheckAll(isAnnounced: Bool = true) {
        if isAnnounced { state.onLoop.authority.changes += 1 }
        if state.onLoop.authority.recheck.isRunning {
            if isAnnounced { state.onLoop.authority.recheck.isDue = true }
            return
        }
        state.onLoop.authority.recheck.isAnnounced = isAnnounced
        endFormerReaders(isAnnounced: isAnnounced)
        state.onLoop.authority.recheck.left = state.onLoop.authorised.flatMap { peer, one in
            one.interfaces.map { (peer, $0) }
        }
        recheckMore()
    }
    /// A former reader may still have its ring mapped. One that has left the bus cannot be asked about: it counts as
    /// one without a permission. After an announcement all do: a peer may have given its ring back, or have left, when
    /// it heard of that.
    private func endFormerReaders(isAnnounced: Bool) {
        for interface in interfaces where interface.requirement.needsPolkit {
            if isAnnounced || interface.stream.hasDepartedReaders {
                interface.stream.withdraw([], endsFormerReaders: true)
            }
        }
    }
    private var hasDepartedReaders: Bool {
        interfaces.contains { $0.requirement.needsPolkit && $0.stream.hasDepartedReaders }
    }
    private func recheckMore() {
        while state.onLoop.authority.recheck.open < Self.openAtOnce,
            let (peer, name) = state.onLoop.authority.recheck.left.popLast()
        {
            guard let connection = connection.onLoop,
                let credentials = state.onLoop.authorised[peer]?.credentials,
                let interface = interfaces.first(where: { $0.name == name })
            else { continue }
            state.onLoop.authority.recheck.open += 1
            recheck(peer, interface, credentials, [:], Attempts(), connection)
        }
        if state.onLoop.authority.recheck.isRunning { return }
        // Also those of which the round has got no answer: they had gone, or had given their ring back, before it came.
        if state.onLoop.authority.recheck.isAnnounced { endFormerReaders(isAnnounced: true) }
        if state.onLoop.authority.recheck.isDue {
            state.onLoop.authority.recheck.isDue = false
            recheckAll()
        }
    }
    /// How often polkit could not be asked about a peer.
    private struct Attempts {
        private var (failed, withoutRoom) = (0, 0)

        /// Counts a question without an answer. Returns whether to ask again.
        mutating func goOn(after error: RelayError) -> Bool {
            if ServiceCore.hasNoRoom(error) { withoutRoom += 1 } else { failed += 1 }
            return failed < ServiceCore.attempts && withoutRoom < ServiceCore.attemptsWithoutRoom
        }
    }
    private func recheck(
        _ peer: String, _ interface: ExportedInterface, _ credentials: PeerCredentials, _ answers: [String: Bool],
        _ attempts: Attempts, _ connection: BusConnection
    ) {
        switch interface.requirement.decision(on: credentials, accounts: accounts, answers: answers) {
        case .met: break
        case .notMet:
            // A change that was announced, perhaps, and not heard: of former readers, too.
            if !state.onLoop.authority.recheck.isAnnounced { state.onLoop.authority.recheck.isDue = true }
            withdraw(peer, interface, credentials, "polkit has withdrawn the authorisation")
        case .unknown(let reason): withdraw(peer, interface, credentials, reason)
        case .ask(let action):
            return askPolkit(action, of: peer, isInteractive: false, 0, connection) { [weak self] result in
                guard let self else { return }
                switch result {
                case .success(let answer):
                    let answers = answers.merging([action: answer == .authorised]) { $1 }
                    recheck(peer, interface, credentials, answers, attempts, connection)
                case .failure where !state.onLoop.authority.recheck.isAnnounced: rechecked()
                case .failure(let error):
                    var attempts = attempts
                    guard attempts.goOn(after: error) else {
                        withdraw(peer, interface, credentials, error.message)
                        return rechecked()
                    }
                    loop.schedule(after: timing.recheck) { [weak self, attempts] in
                        self?.recheck(peer, interface, credentials, answers, attempts, connection)
                    }
                }
            }
        }
        rechecked()
    }
    private func rechecked() {
        state.onLoop.authority.recheck.open -= 1
        recheckMore()
    }
    /// A peer may no longer read an interface's events.
    private func withdraw(
        _ peer: String, _ interface: ExportedInterface, _ credentials: PeerCredentials, _ reason: String
    ) {
        // It has left meanwhile.
        guard state.onLoop.authorised[peer]?.interfaces.remove(interface.name) != nil else { return }
        if state.onLoop.authorised[peer]?.interfaces.isEmpty == true { state.onLoop.authorised[peer] = nil }
        reads.depart(peer)
        // It may have given its ring back, and still have it mapped.
        interface.stream.withdraw([peer], endsFormerReaders: true)
        interface.stream.state.withLock { $0.refusals.count(.notPermitted) }
        let user = credentials.userID.map { "user \($0)" } ?? "an unknown user"
        let text =
            "\(peer), \(user), receives no more events of \(interface.name), which is for \(interface.requirement): "
            + reason
        notices.report(
            .notPermitted, .warning, text,
            of: Notice.Subject(interface: interface.name, peer: peer, code: .notPermitted))
        if let connection = connection.onLoop {
            rings.withdraw(peer, interface, .notPermitted, text, connection)
        }
    }
}
