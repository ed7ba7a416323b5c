/// Who the peers are, by the word of the bus: what is remembered of it, and the calls that wait for it. On the loop.
final class PeerDirectory: Sendable {
    struct State {
        var known = PeerTable<PeerCredentials>()
        var lookUps: [String: [LookUp]] = [:]
    }
    /// A call that waits for its peer's credentials.
    struct LookUp {
        let charge: PeerLedger.Charge
        let completion: @Sendable (Result<PeerCredentials, RelayError>) -> Void
    }
    /// How often the bus is asked: its answer may be lost.
    private static let attempts = 4
    private static let remembered = 4_096
    let state: LoopBound<State>
    private let ledger: PeerLedger
    private let notices: NoticeReporter
    private let timing: ServiceTiming
    /// Whether the systemd units of peers have to be known.
    private let readsUnits: Bool

    init(_ ledger: PeerLedger, _ loop: BusLoop, _ notices: NoticeReporter, _ timing: ServiceTiming, readsUnits: Bool) {
        (self.ledger, self.notices, self.timing, self.readsUnits) = (ledger, notices, timing, readsUnits)
        state = LoopBound(State(), on: loop)
    }
    /// The peers whose credentials calls wait for.
    var waitingCount: Int { state.onLoop.lookUps.count }

    /// The peer as its call's handler sees it, if it is known and meets a requirement, for which nothing has to be asked.
    func peer(_ name: String, meeting requirement: PeerRequirement, _ accounts: some AccountDirectory) -> Peer? {
        guard let place = state.onLoop.known.place(of: name) else { return nil }
        return requirement.isMet(by: state.onLoop.known[place], accounts: accounts)
            ? Peer(name, user: state.onLoop.known[place].userID)
            : nil
    }
    /// Asks the bus for the credentials of a call's peer. The call waits for them.
    func credentials(
        of call: IncomingCall, bytes: Int? = nil,
        completion: @escaping @Sendable (Result<PeerCredentials, RelayError>) -> Void
    ) {
        credentials(of: call.sender, bytes: bytes ?? call.body.count, call.connection, completion: completion)
    }
    /// Asks the bus for the credentials of a peer, once for each peer.
    ///
    /// The completions for one peer come in the order of asking: an `Attach` is answered before a call that came behind
    /// it runs, and so before that call's events. They fail with `Unavailable` when the bus did not answer in time,
    /// which proves nothing about the peer, and with `LimitsExceeded` when too many wait.
    func credentials(
        of peer: String, bytes: Int, _ connection: BusConnection,
        completion: @escaping @Sendable (Result<PeerCredentials, RelayError>) -> Void
    ) {
        if let known = state.onLoop.known[peer] { return completion(.success(known)) }
        let charge: PeerLedger.Charge
        do throws(PeerLedger.Refusal) {
            charge = try ledger.charge(call: .lookUpCalls, arguments: .lookUpBytes, bytes, to: peer)
        } catch { return completion(.failure(error.error)) }
        state.onLoop.lookUps[peer, default: []].append(LookUp(charge: charge, completion: completion))
        if state.onLoop.lookUps[peer]?.count == 1 { lookUp(peer, 1, connection) }
    }
    private func lookUp(_ peer: String, _ attempt: Int, _ connection: BusConnection) {
        do throws(RelayError) {
            connection.send(try PeerCredentials.request(for: peer), timeout: timing.lookUp) { [weak self] result in
                guard let self else { return }
                if case .failure(let error) = result, error.code == .timedOut, attempt < Self.attempts {
                    return lookUp(peer, attempt + 1, connection)
                }
                lookedUp(
                    peer,
                    result.flatMap { reply in
                        Result { () throws(RelayError) in try PeerCredentials(reply, readsUnit: readsUnits) }
                    })
            }
        } catch {
            lookedUp(peer, .failure(error))
        }
    }
    func lookedUp(_ peer: String, _ result: Result<PeerCredentials, RelayError>) {
        var answer = result
        switch result {
        case .success(let credentials):
            if state.onLoop.known.count >= Self.remembered { state.onLoop.known.removeAll() }
            let place = state.onLoop.known.place(of: peer, orMake: credentials)
            state.onLoop.known[place] = credentials
            ledger.identify(peer, user: credentials.userID)
        case .failure(let error):
            let text = "the bus did not say who \(peer) is: \(error.message)"
            // A peer that has left needs no notice.
            if error.code != .unavailable {
                notices.report(
                    .lookUpFailed, .warning, "\(text); its calls were refused, and may be repeated",
                    of: Notice.Subject(peer: peer, code: .unavailable))
            }
            answer = .failure(RelayError(.unavailable, "\(text); try again", cause: error))
        }
        for lookUp in state.onLoop.lookUps.removeValue(forKey: peer) ?? [] { lookUp.completion(answer) }
    }
    /// A peer has left: after the bus restarts, its name may be another's.
    func depart(_ peer: String) { state.onLoop.known.remove(peer) }
}
