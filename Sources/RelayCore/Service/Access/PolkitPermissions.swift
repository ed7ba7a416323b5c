import Synchronization

/// Which peers have events because polkit permitted it, and the rounds in which polkit is asked about them again. On
/// the loop's thread.
final class PolkitPermissions: Sendable {
    struct State {
        var peers: [String: Permitted] = [:]
        var recheck = Recheck()
        /// How many changes of polkit's mind were announced, or found.
        var changes: UInt64 = 0
        fileprivate var hasRoundTimer = false
    }
    struct Permitted {
        let credentials: PeerCredentials
        var interfaces: Set<String> = []
    }
    /// A round over all peers that have events because polkit permitted it.
    struct Recheck {
        fileprivate var left: [(peer: String, interface: String)] = []
        /// Questions that are not answered.
        fileprivate var open = 0
        /// Something has changed since the round began.
        fileprivate var isDue = false
        /// Something had changed before it.
        fileprivate var isAnnounced = false
        var isRunning: Bool { open > 0 || !left.isEmpty }
    }
    /// How many questions of a round are open at once, beside those of calls (`PolkitQueue`).
    private static let openAtOnce = 8
    private static let attempts = 3
    /// How often the bus may take no question of a round before that is a failure as any other. A peer that fills
    /// polkit's queue on the bus must not keep for ever what a change may have withdrawn.
    static let attemptsWithoutRoom = 30
    /// What a peer has for longer than one reply.
    private static let lasting: Set<String> = ["Attach", "OpenRing", "OpenReplay"]
    let state: LoopBound<State>
    private let interfaces: [ExportedInterface]
    private let connection: LoopBound<BusConnection?>
    private let authority: PolkitAuthority
    private let accounts: AccountCache<SystemAccounts>
    private let loop: BusLoop
    private let notices: NoticeReporter
    private let timing: ServiceTiming
    private let onWithdrawal: @Sendable (_ peer: String, ExportedInterface, _ text: String) -> Void

    /// - Parameters:
    ///   - interfaces: of those that polkit decides about.
    ///   - onWithdrawal: ends what a peer has of an interface besides its place in the stream.
    init(
        _ interfaces: [ExportedInterface], _ connection: LoopBound<BusConnection?>, _ authority: PolkitAuthority,
        _ accounts: AccountCache<SystemAccounts>, _ loop: BusLoop, _ notices: NoticeReporter, _ timing: ServiceTiming,
        onWithdrawal: @escaping @Sendable (_ peer: String, ExportedInterface, _ text: String) -> Void
    ) {
        (self.connection, self.authority, self.accounts) = (connection, authority, accounts)
        (self.loop, self.notices, self.timing, self.onWithdrawal) = (loop, notices, timing, onWithdrawal)
        self.interfaces = interfaces.filter(\.requirement.needsPolkit)
        state = LoopBound(State(), on: loop)
        authority.onChange { [weak self] in self?.recheckAll() }
    }
    /// A peer may read events because polkit said so.
    func note(_ entry: GateQueue.Entry) {
        guard Self.lasting.contains(entry.call.member),
            let interface = interfaces.first(where: { $0.path == entry.call.path })
        else { return }
        state.onLoop.peers[entry.peer, default: Permitted(credentials: entry.credentials)]
            .interfaces.insert(interface.name)
        orderRound()
    }
    /// A peer has left.
    func depart(_ peer: String) { state.onLoop.peers[peer] = nil }

    // MARK: Rounds

    /// `Changed` may be lost, as any message of the bus: so what rests on polkit's answers is asked for now and then.
    private func orderRound() {
        if state.onLoop.hasRoundTimer { return }
        if state.onLoop.peers.isEmpty && !interfaces.contains(where: \.stream.hasDepartedReaders) { return }
        state.onLoop.hasRoundTimer = true
        loop.schedule(after: timing.permissions) { [weak self] in
            guard let self else { return }
            state.onLoop.hasRoundTimer = false
            recheckAll(isAnnounced: false)
            orderRound()
        }
    }
    /// Asks again about every peer that has events by polkit's word.
    ///
    /// - Parameter isAnnounced: whether polkit may have changed its mind. If not, only a clear answer counts.
    private func recheckAll(isAnnounced: Bool = true) {
        if isAnnounced { state.onLoop.changes += 1 }
        if state.onLoop.recheck.isRunning {
            if isAnnounced { state.onLoop.recheck.isDue = true }
            return
        }
        state.onLoop.recheck.isAnnounced = isAnnounced
        endFormerReaders(isAnnounced: isAnnounced)
        state.onLoop.recheck.left = state.onLoop.peers.flatMap { peer, one in one.interfaces.map { (peer, $0) } }
        recheckMore()
    }
    /// A former reader may still have its ring mapped. One that has left the bus cannot be asked about: it counts as
    /// one without a permission. After an announcement all do: a peer may have given its ring back, or have left, when
    /// it heard of that.
    private func endFormerReaders(isAnnounced: Bool) {
        for interface in interfaces where isAnnounced || interface.stream.hasDepartedReaders {
            interface.stream.withdraw([], endsFormerReaders: true)
        }
    }
    private func recheckMore() {
        while state.onLoop.recheck.open < Self.openAtOnce, let (peer, name) = state.onLoop.recheck.left.popLast() {
            guard let connection = connection.onLoop, let credentials = state.onLoop.peers[peer]?.credentials,
                let interface = interfaces.first(where: { $0.name == name })
            else { continue }
            state.onLoop.recheck.open += 1
            recheck(peer, interface, credentials, [:], Attempts(), connection)
        }
        if state.onLoop.recheck.isRunning { return }
        // Also those of which the round has got no answer: they had gone, or had given their ring back, before it came.
        if state.onLoop.recheck.isAnnounced { endFormerReaders(isAnnounced: true) }
        if state.onLoop.recheck.isDue {
            state.onLoop.recheck.isDue = false
            recheckAll()
        }
    }
    /// How often polkit could not be asked about a peer.
    private struct Attempts {
        private var (failed, withoutRoom) = (0, 0)

        /// Counts a question without an answer. Returns whether to ask again.
        mutating func goOn(after error: RelayError) -> Bool {
            // The bus did not take the question: too many are open.
            let remote = (error.cause as? RelayError)?.cause as? RemoteError
            if remote?.name == "org.freedesktop.DBus.Error.LimitsExceeded" { withoutRoom += 1 } else { failed += 1 }
            return failed < PolkitPermissions.attempts && withoutRoom < PolkitPermissions.attemptsWithoutRoom
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
            if !state.onLoop.recheck.isAnnounced { state.onLoop.recheck.isDue = true }
            withdraw(peer, interface, credentials, "polkit has withdrawn the authorisation")
        case .unknown(let reason): withdraw(peer, interface, credentials, reason)
        case .ask(let action):
            return authority.ask(action, of: peer, isInteractive: false, 0, connection) { [weak self] result in
                guard let self else { return }
                switch result {
                case .success(let answer):
                    let answers = answers.merging([action: answer == .authorised]) { $1 }
                    recheck(peer, interface, credentials, answers, attempts, connection)
                case .failure where !state.onLoop.recheck.isAnnounced: rechecked()
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
        state.onLoop.recheck.open -= 1
        recheckMore()
    }
    /// A peer may no longer read an interface's events.
    private func withdraw(
        _ peer: String, _ interface: ExportedInterface, _ credentials: PeerCredentials, _ reason: String
    ) {
        // It has left meanwhile.
        guard state.onLoop.peers[peer]?.interfaces.remove(interface.name) != nil else { return }
        if state.onLoop.peers[peer]?.interfaces.isEmpty == true { state.onLoop.peers[peer] = nil }
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
        onWithdrawal(peer, interface, text)
    }
}
