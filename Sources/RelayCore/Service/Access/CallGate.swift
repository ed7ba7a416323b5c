/// The one gate: every call that reads events or runs a command passes it. On the loop's thread.
final class CallGate: Sendable {
    struct State {
        var queue: GateQueue
        var questions = PolkitQueue()
        /// A question is being sent: the next one comes behind it.
        fileprivate var isAsking = false
    }
    let state: LoopBound<State>
    private let service: String
    private let directory: PeerDirectory
    private let replies: ReplySender
    private let authority: PolkitAuthority
    private let permissions: PolkitPermissions
    private let accounts: AccountCache<SystemAccounts>
    private let ledger: PeerLedger

    init(
        _ service: String, _ directory: PeerDirectory, _ replies: ReplySender, _ authority: PolkitAuthority,
        _ permissions: PolkitPermissions, _ accounts: AccountCache<SystemAccounts>, _ ledger: PeerLedger,
        _ loop: BusLoop
    ) {
        (self.service, self.directory, self.replies) = (service, directory, replies)
        (self.authority, self.permissions, self.accounts) = (authority, permissions, accounts)
        self.ledger = ledger
        state = LoopBound(State(queue: GateQueue(ledger)), on: loop)
    }
    /// Goes on if the peer may hear of the interface's events; answers if not. In the order of the peer's calls.
    func ifPermitted(_ call: IncomingCall, _ interface: ExportedInterface, _ body: @escaping @Sendable () -> Void) {
        if !interface.stream.isRestricted { return body() }
        admit(call, interface.requirement, interface.name, isCommand: false) { _ in body() }
    }
    /// Who has made a call, if it goes on at once: `admit` is for all others.
    func caller(of call: IncomingCall, meeting requirement: PeerRequirement) -> Peer? {
        if state.onLoop.queue.isBusy(call.sender) { return nil }
        return directory.peer(call.sender, meeting: requirement, accounts)
    }
    /// Goes on if the peer meets a requirement; answers if not.
    ///
    /// - Parameter what: what is asked for, for a message.
    /// - Parameter isCommand: a person may be asked about it; then the peer's other calls go on meanwhile.
    /// - Parameter hold: the call's descriptors, which are its user's as soon as that is known: a person may be asked
    ///   for long.
    /// - Parameter proceed: gets the peer's credentials; nil if they are not known, and need not be.
    func admit(
        _ call: IncomingCall, _ requirement: PeerRequirement, _ what: String, isCommand: Bool,
        holding hold: PeerLedger.Charge? = nil,
        proceed: @escaping @Sendable (PeerCredentials?) -> Void
    ) {
        directory.credentials(of: call) { [weak self] result in
            guard let self else { return }
            if let refusal = hold?.refusalAsKnown {
                return replies.refuse(call, .limitsExceeded, refusal.message)
            }
            switch result {
            case .success(let credentials):
                enter(
                    GateQueue.Entry(
                        call: call, requirement: requirement, what: what, isCommand: isCommand,
                        credentials: credentials, proceed: proceed))
            // If any peer may call, the caller need not be known. A peer that has left cannot be.
            case .failure(let error) where requirement.isAnyone && error.code == .unavailable: proceed(nil)
            case .failure(let error): replies.refuse(call, error.code, error.message)
            }
        }
    }
    private func enter(_ entry: GateQueue.Entry) {
        if state.onLoop.queue.isBusy(entry.peer) {
            if let reason = state.onLoop.queue.enqueue(entry).refusal {
                replies.refuse(entry.call, .limitsExceeded, reason)
            }
            return
        }
        switch entry.decision([:], accounts) {
        case .ask(let action) where entry.isCommand: putAside(entry, action)
        case .ask(let action):
            let (id, refusal) = state.onLoop.queue.enqueue(entry)
            if let refusal { return replies.refuse(entry.call, .limitsExceeded, refusal) }
            ask(action, about: entry, id, Inquiry())
        case let decision: conclude(entry, decision)
        }
    }
    private func putAside(_ entry: GateQueue.Entry, _ action: String) {
        let (id, refusal) = state.onLoop.queue.putAside(entry)
        if let refusal { return replies.refuse(entry.call, .limitsExceeded, refusal) }
        ask(action, about: entry, id, Inquiry())
    }
    /// Asks polkit, when it is the turn of the peer's user.
    private func ask(_ action: String, about entry: GateQueue.Entry, _ id: UInt64, _ inquiry: Inquiry) {
        let question = PolkitQueue.Question(id: id, peer: entry.peer, user: entry.credentials.userID) { [weak self] in
            self?.askNow(action, about: entry, id, inquiry)
        }
        state.onLoop.questions.add(question)
        askNext()
    }
    private func askNext() {
        // An answer may come within the question.
        if state.onLoop.isAsking { return }
        state.onLoop.isAsking = true
        while let question = state.onLoop.questions.next(ledger) { question.ask() }
        state.onLoop.isAsking = false
    }
    private func askNow(_ action: String, about entry: GateQueue.Entry, _ id: UInt64, _ inquiry: Inquiry) {
        let inquiry = inquiry.begun(permissions.state.onLoop.changes)
        authority.ask(action, of: entry.peer, isInteractive: entry.isInteractive, id, entry.call.connection) {
            [weak self] result in
            guard let self else { return }
            state.onLoop.questions.end(id)
            defer { askNext() }
            // The peer has left, or the service ends.
            guard state.onLoop.queue.isWaiting(id, entry.peer) else { return }
            let decision: PeerRequirement.Decision
            var detail = ""
            switch result {
            case .success(let answer):
                var inquiry = inquiry
                let isSettled = inquiry.note(
                    action, answer == .authorised, permissions.state.onLoop.changes, ofPerson: entry.isInteractive)
                decision =
                    isSettled
                    ? entry.decision(inquiry.answers, accounts) : .unknown("polkit's rules change again and again")
                if case .ask(let next) = decision { return ask(next, about: entry, id, inquiry) }
                switch answer {
                case .needsPerson:
                    detail = "; a person would have to authenticate, who cannot be asked for this call"
                case .dismissed: detail = "; the person who was asked has declined"
                case .authorised, .denied: break
                }
                if decision == .met, !entry.isCommand { permissions.note(entry) }
            case .failure(let error): decision = .unknown(error.message)
            }
            if entry.isCommand {
                state.onLoop.queue.remove(id)
                return conclude(entry, decision, detail: detail)
            }
            state.onLoop.queue.removeFirst(of: entry.peer)
            conclude(entry, decision, detail: detail)
            goOn(entry.peer)
        }
    }
    /// The first call of a peer has been decided: those behind it come, up to the next that has to wait.
    private func goOn(_ peer: String) {
        while let (id, entry) = state.onLoop.queue.first(of: peer) {
            let decision = entry.decision([:], accounts)
            if case .ask(let action) = decision, !entry.isCommand {
                return ask(action, about: entry, id, Inquiry())
            }
            state.onLoop.queue.removeFirst(of: peer)
            if case .ask(let action) = decision {
                putAside(entry, action)
            } else {
                conclude(entry, decision)
            }
        }
        state.onLoop.queue.close(peer)
    }
    /// Lets the call go on, or refuses it.
    private func conclude(_ entry: GateQueue.Entry, _ decision: PeerRequirement.Decision, detail: String = "") {
        if decision == .met { return entry.proceed(entry.credentials) }
        let user = entry.credentials.userID.map { "user \($0)" } ?? "an unknown user"
        let text = "\(entry.what) is for \(entry.requirement), \(entry.peer) is \(user)\(detail)"
        guard case .unknown(let reason) = decision else {
            return replies.refuse(entry.call, .notPermitted, text)
        }
        replies.report(.lookUpFailed, "\(text); \(reason)", of: entry.call, .unavailable)
        replies.refuse(entry.call, .unavailable, "\(text), and \(reason): try again")
    }
    /// For `CloseRing`: behind the caller's look-up, whatever comes of that, and in the place of its calls of `OpenRing`
    /// that wait here, which are not wanted any more. It waits for no other call, and so needs no room.
    func inOrder(_ call: IncomingCall, _ body: @escaping @Sendable () -> Void) {
        directory.credentials(of: call) { [weak self] _ in
            guard let self else { return }
            let (taken, first) = state.onLoop.queue.takeReads("OpenRing", at: call.path, of: call.sender)
            for entry in taken { replies.fail(entry.call, .cancelled, "CloseRing has followed") }
            body()
            guard let first else { return }
            state.onLoop.questions.remove { $0.id == first }
            goOn(call.sender)
        }
    }

    // MARK: The end

    /// A caller has cancelled a call: a command that waits here does not run.
    func cancel(_ serial: UInt32, of peer: String) {
        guard let (id, entry) = state.onLoop.queue.takeCommand(serial, of: peer) else { return }
        if let id {
            state.onLoop.questions.remove { $0.id == id }
            if entry.isInteractive { authority.cancelQuestion(id) }
        }
        replies.fail(entry.call, .cancelled, "\(entry.what) was cancelled before it ran")
    }
    /// A peer has left: what waited for a person is withdrawn.
    func depart(_ peer: String) {
        state.onLoop.questions.remove { $0.peer == peer }
        for id in state.onLoop.queue.depart(peer) { authority.cancelQuestion(id) }
        permissions.depart(peer)
    }
    /// The service ends: nobody is waited for.
    func stop() {
        let taken = state.onLoop.queue.takeCommands()
        let ids = Set(taken.map(\.id))
        state.onLoop.questions.remove { ids.contains($0.id) }
        for (id, entry) in taken {
            if entry.isInteractive { authority.cancelQuestion(id) }
            replies.fail(entry.call, .unavailable, "\(service) is stopping")
        }
    }
}

/// What polkit has answered about one call, as a value. What it answered before it announced a change counts no more.
private struct Inquiry: Sendable {
    /// How often the questions begin anew: rules do not change with every question.
    private static let attempts = 4

    private(set) var answers: [String: Bool] = [:]
    /// How many changes had been announced when the first question was sent.
    private var changes: UInt64?
    private var failed = 0

    /// As it is when a question is sent.
    func begun(_ changes: UInt64) -> Self {
        var begun = self
        if answers.isEmpty { begun.changes = changes }
        return begun
    }
    /// A question was answered. Returns whether it is worth going on.
    ///
    /// - Parameter ofPerson: a person may have answered, about whom polkit need not be asked again. That itself makes
    ///   polkit announce a change, when it keeps the answer for a while.
    mutating func note(_ action: String, _ isAuthorised: Bool, _ changes: UInt64, ofPerson: Bool) -> Bool {
        if changes != self.changes {
            (answers, self.changes) = ([:], changes)
            failed += 1
            // polkit decides, and answers a moment later: it may have announced the change in between.
            if !ofPerson { return failed < Self.attempts }
        }
        answers[action] = isAuthorised
        return failed < Self.attempts
    }
}

extension GateQueue.Entry {
    fileprivate func decision(
        _ answers: [String: Bool], _ accounts: some AccountDirectory
    ) -> PeerRequirement.Decision {
        requirement.decision(on: credentials, accounts: accounts, answers: answers)
    }
}
