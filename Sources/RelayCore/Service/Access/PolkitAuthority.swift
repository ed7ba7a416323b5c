import RelayWire

/// polkit: which connection it is, what it answers, and whether it says something else now. On the loop's thread.
final class PolkitAuthority: Sendable {
    struct State {
        var owner = PolkitOwner()
        fileprivate var waiters: [@Sendable (Result<String, RelayError>) -> Void] = []
        fileprivate var onChange: (@Sendable () -> Void)?
    }
    let state: LoopBound<State>
    private let connection: LoopBound<BusConnection?>
    private let loop: BusLoop
    private let timing: ServiceTiming

    init(_ connection: LoopBound<BusConnection?>, _ loop: BusLoop, _ timing: ServiceTiming) {
        (self.connection, self.loop, self.timing) = (connection, loop, timing)
        state = LoopBound(State(), on: loop)
    }
    /// Calls back when polkit may have changed its mind: it has announced that, or another connection is polkit.
    func onChange(_ body: @escaping @Sendable () -> Void) { loop.withTurn { state.onLoop.onChange = body } }

    // MARK: Asking

    /// Asks polkit about a peer. The completion comes once.
    ///
    /// - Parameter id: by which an interactive question can be withdrawn.
    func ask(
        _ action: String, of peer: String, isInteractive: Bool, _ id: UInt64, _ connection: BusConnection,
        completion: @escaping @Sendable (Result<Polkit.Answer, RelayError>) -> Void
    ) {
        let time = isInteractive ? timing.prompt : timing.authority
        find(connection) { [weak self] found in
            do throws(RelayError) {
                let owner = try found.get()
                let question = try Polkit.question(
                    action, of: peer, isInteractive: isInteractive, cancellation: isInteractive ? "\(id)" : "",
                    to: owner)
                connection.send(question, timeout: time) { [weak self] result in
                    if case .failure(let error) = result {
                        if error.code == .timedOut, isInteractive { self?.cancelQuestion(id) }
                        self?.state.onLoop.owner.failed(error, asking: owner)
                    }
                    // Another connection is polkit by now, perhaps, by other rules: the former one's word permits
                    // nothing.
                    let isFormer = self?.state.onLoop.owner.last != owner
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
    /// Withdraws a question that a person may be looking at.
    func cancelQuestion(_ id: UInt64) {
        guard let connection = connection.onLoop, let owner = state.onLoop.owner.last,
            let request = try? Polkit.cancellation("\(id)", to: owner)
        else { return }
        connection.send(request) { _ in }
    }
    /// The authority's unique name: what is asked of that, no other connection can answer.
    private func find(
        _ connection: BusConnection, _ completion: @escaping @Sendable (Result<String, RelayError>) -> Void
    ) {
        if let owner = state.onLoop.owner.present { return completion(.success(owner)) }
        state.onLoop.waiters.append(completion)
        if state.onLoop.waiters.count > 1 { return }
        do throws(RelayError) {
            connection.send(try .start(of: Polkit.name)) { [weak self] _ in
                // Whether it could be started or not: it may be there.
                self?.askOwner(connection) { [weak self] in self?.found($0) }
            }
        } catch {
            found(.failure(error))
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
    private func found(_ result: Result<String, RelayError>) {
        if state.onLoop.owner.answered(result) { state.onLoop.onChange?() }
        let waiters = state.onLoop.waiters
        state.onLoop.waiters = []
        for waiter in waiters { waiter(result) }
    }

    // MARK: Changes

    /// A signal of polkit, or about its name. Returns whether it was one.
    func signal(_ message: borrowing ReceivedMessage) -> Bool {
        if let change = OwnerChange(message), change.name == Polkit.name {
            if state.onLoop.owner.announced(change.newOwner) { state.onLoop.onChange?() }
            return true
        }
        guard message.hasInterface(Polkit.interface), message.hasMember("Changed") else { return false }
        // Anybody may send one of this name to this connection.
        guard let sender = message.sender else { return true }
        switch state.onLoop.owner.heard(from: sender) {
        case .recheck: state.onLoop.onChange?()
        case .ask: verify()
        case .nothing: break
        }
        return true
    }
    /// Asks the bus who polkit is, at most once a `pace`, however many strangers send what polkit would. The bus's
    /// answer counts, not the signal.
    private func verify() {
        guard let connection = connection.onLoop else { return }
        askOwner(connection) { [weak self] result in
            guard let self else { return }
            if state.onLoop.owner.answered(result) { state.onLoop.onChange?() }
            loop.schedule(after: timing.recheck) { [weak self] in
                guard let self, state.onLoop.owner.rested() else { return }
                verify()
            }
        }
    }
}
