/// A relay's session with its service, as a value: decides which connection owns the service's name, and what counts of
/// what it sends.
///
/// What happened goes in; each input returns what to do now. Its user asks the bus and verifies candidates, and hands
/// every answer back with the generation of its question.
///
/// Invariants: a signal gets out only if its sender was verified as the owner, once, and in its order. What an owner
/// sent that left, was refused, or went out of sight before is dropped. An answer about a former owner changes nothing.
/// A lost bus forgets every unique name. A refused owner ends the session; after its end nothing is believed, asked or
/// reported. The bus drops what it has no room for, its own announcements and answers included: so while the relay is
/// on the bus, a question who has the name is always on its way, or ordered.
struct ServiceSession<Signal> {
    /// Who has the name, and is to be verified.
    struct Candidate: Hashable {
        /// A unique name.
        let name: String
        let generation: Int
        /// It took the name while this relay was on the bus, so that all of its run can be had.
        let isNew: Bool
    }
    /// What the relay reports of its session.
    enum Standing: Hashable {
        case connecting
        case active
        case interrupted
    }
    fileprivate enum Phase {
        case inactive
        /// The bus is connected to, for the first time or again.
        case offline
        case online(Owner)
        case over
    }
    fileprivate enum Owner {
        /// The bus has not answered yet.
        case unknown
        case nobody
        case candidate(String, HeldSignals)
        case verified(String)
    }
    /// What a candidate has sent, in order, up to a bound.
    fileprivate struct HeldSignals {
        private(set) var signals: [Signal] = []
        private var cost = 0
        /// How many came, with those past the bound: these are lost, as if the bus had lost them.
        private(set) var count = 0

        mutating func append(_ signal: Signal, cost: Int, countLimit: Int, costLimit: Int) {
            count += 1
            let (sum, isOver) = self.cost.addingReportingOverflow(max(0, cost))
            if signals.count >= countLimit || isOver || sum > costLimit { return }
            self.cost = sum
            signals.append(signal)
        }
    }
    /// How the next question who has the name comes about.
    fileprivate enum Question {
        /// Off the bus.
        case none
        case ordered(isPrompt: Bool)
        /// On its way. `isOld`: another one was wanted since, which this one's answer may be too old for.
        case asked(isOld: Bool)
    }
    private var phase = Phase.inactive
    private var question = Question.none
    /// The owner has left something unanswered.
    private var owesAnswers = false
    /// Something has come, or has not, that shows that the bus may have dropped more.
    private(set) var suspectsLoss = false
    /// Counts what was learnt of the owner: an answer about it counts only while its question's generation is the
    /// present one.
    private(set) var generation = 0
    private var standing = Standing.connecting
    private var wasActive = false
    private let countLimit: Int
    private let costLimit: Int

    /// - Parameters:
    ///   - countLimit: how many signals of a candidate are held.
    ///   - costLimit: how much they may cost together, in bytes.
    init(countLimit: Int, costLimit: Int) { (self.countLimit, self.costLimit) = (countLimit, costLimit) }

    // MARK: What is known

    /// The verified owner's unique name: the only one that counts.
    @inline(__always) var owner: String? {
        if case .online(.verified(let name)) = phase { name } else { nil }
    }
    /// The unique name of the owner that is being verified.
    var candidate: String? { if case .online(.candidate(let name, _)) = phase { name } else { nil } }
    /// Whether the bus has reported the owner of the name, or that there is none.
    var isOwnershipKnown: Bool {
        switch phase {
        case .online(.unknown), .inactive, .offline, .over: false
        case .online: true
        }
    }
    var isOver: Bool { if case .over = phase { true } else { false } }

    // MARK: The bus

    mutating func activate() -> Activation {
        guard case .inactive = phase else { return .ignored }
        phase = .offline
        return .connect
    }

    mutating func connected() -> Connection {
        guard case .offline = phase else { return .close }
        phase = .online(.unknown)
        question = .asked(isOld: false)
        return .askForOwner
    }

    mutating func connectionFailed() -> ConnectionFailure {
        guard case .offline = phase else { return .ignored }
        return .retry(report(wasActive ? .interrupted : .connecting))
    }

    mutating func busVanished() -> BusLoss {
        guard case .online = phase else { return .ignored }
        let dropped = leave(for: .offline)
        return .forget(Loss(dropped: dropped, standing: report(wasActive ? .interrupted : .connecting)))
    }

    /// The relay is not wanted any more, or cannot go on.
    mutating func end() -> End {
        if isOver { return .ignored }
        return .end(dropped: leave(for: .over))
    }

    // MARK: The owner

    /// The bus announced that another one has the name now, or nobody.
    mutating func ownerChanged(to name: String?) -> OwnerChange { changeOwner(to: name, isNew: true) }

    /// The bus answered the question who has the name. Its answer is younger than each announcement that came before it.
    ///
    /// - Parameter isWaiting: whether anything waits for the owner, or for its answer.
    mutating func ownerAnswered(_ answer: NameOwnership, isWaiting: Bool) -> OwnerAnswer {
        guard case .online(let owner) = phase, case .asked(let isOld) = question else {
            return OwnerAnswer(next: .ignored)
        }
        if case .unknown = answer {
            suspectsLoss = true
            return OwnerAnswer(next: order(.soon))
        }
        let name: String? = if case .owner(let name) = answer { name } else { nil }
        var result = OwnerAnswer(next: .ignored)
        switch owner {
        // It was there before this relay.
        case .unknown: result.change = changeOwner(to: name, isNew: false)
        case .nobody where name == nil: break
        case .candidate(let present, _) where present == name: result.isToBeRechecked = owesAnswers
        case .verified(let present) where present == name:
            (result.isToBeRechecked, result.isToBeCompared) = (owesAnswers, suspectsLoss)
        // The announcement was lost.
        default: result.change = changeOwner(to: name, isNew: true)
        }
        // All that was sent before this answer has come, or will never come.
        (owesAnswers, suspectsLoss) = (false, false)
        if isOld {
            question = .asked(isOld: false)
            result.next = .ask
        } else {
            result.next = order(isWaiting || isPrompt ? .prompt : .leisurely)
        }
        return result
    }
    private mutating func order(_ pace: Pace) -> Inquiry {
        question = .ordered(isPrompt: pace != .leisurely)
        return .order(pace)
    }
    /// Whether the session itself waits for the next answer.
    private var isPrompt: Bool { owner == nil || suspectsLoss }

    /// The time of the ordered question has come.
    mutating func inquiryDue(isWaiting: Bool) -> Inquiry {
        guard case .ordered(let wasPrompt) = question else { return .ignored }
        // What it was brought forward for is over.
        if wasPrompt && !isWaiting && !isPrompt { return order(.leisurely) }
        question = .asked(isOld: false)
        return .ask
    }
    /// The owner has left something unanswered: the bus may know why.
    mutating func ownerOwes() -> Inquiry {
        guard case .online = phase else { return .ignored }
        owesAnswers = true
        if case .asked = question {
            question = .asked(isOld: true)
            return .ignored
        }
        question = .asked(isOld: false)
        return .ask
    }
    /// Something begins to wait for the owner: the next question is brought forward.
    @inline(__always) mutating func beganWaiting() -> Inquiry {
        if case .ordered(isPrompt: false) = question { order(.prompt) } else { .ignored }
    }
    /// Something has come of a stranger. The bus drops what it has no room for, and what took the room comes first.
    mutating func strangerSent() -> Inquiry {
        guard isOwnershipKnown else { return .ignored }
        suspectsLoss = true
        return beganWaiting()
    }

    /// A question to the owner had no answer, and the owner is still the same.
    func recheck(_ generation: Int) -> Recheck {
        guard generation == self.generation, case .online(let owner) = phase else { return .ignored }
        switch owner {
        case .candidate(let name, _):
            return .verify(Candidate(name: name, generation: generation, isNew: false))
        case .verified: return .askOwner
        case .unknown, .nobody: return .ignored
        }
    }

    /// The candidate of this generation meets the requirement.
    mutating func ownerVerified(_ generation: Int) -> Verification {
        guard generation == self.generation, case .online(.candidate(let name, let held)) = phase else {
            return .ignored
        }
        phase = .online(.verified(name))
        return .deliver(held.signals)
    }
    /// The candidate of this generation does not meet the requirement, which no other answer would change.
    mutating func ownerRefused(_ generation: Int) -> End {
        guard generation == self.generation, candidate != nil else { return .ignored }
        return end()
    }

    // MARK: Signals

    /// - Parameter isFrom: whether the signal's sender has this unique name.
    @inline(__always) func verdict(_ isFrom: (String) -> Bool) -> Verdict {
        switch phase {
        case .online(.verified(let name)): isFrom(name) ? .take : .drop
        case .online(.candidate(let name, _)): isFrom(name) ? .hold : .drop
        case .online(.unknown), .online(.nobody), .inactive, .offline, .over: .drop
        }
    }
    /// Keeps a signal of the candidate until it is verified.
    mutating func hold(_ signal: Signal, cost: Int) {
        guard case .online(.candidate(let name, var held)) = phase else { return }
        // Out of the phase, so that the list is not copied.
        phase = .online(.unknown)
        held.append(signal, cost: cost, countLimit: countLimit, costLimit: costLimit)
        phase = .online(.candidate(name, held))
    }

    // MARK: Standing

    /// Everything that is followed is in step with the owner. Returns what to report, if it has changed.
    mutating func settled() -> Standing? {
        guard owner != nil else { return nil }
        wasActive = true
        return report(.active)
    }

    // MARK: Calls

    var callRoute: CallRoute {
        switch phase {
        case .inactive: .inactive
        case .over: .over
        case .offline: wasActive ? .cutOff : .wait
        case .online(.unknown), .online(.candidate): .wait
        case .online(.nobody): .nobody
        case .online(.verified(let name)): .owner(name)
        }
    }

    // MARK: Steps

    private mutating func changeOwner(to name: String?, isNew: Bool) -> OwnerChange {
        guard case .online(let former) = phase else { return .ignored }
        let loss: Loss?
        switch former {
        case .unknown, .nobody:
            generation += 1
            loss = nil
        case .candidate, .verified:
            let dropped = leave(for: .online(.nobody))
            loss = Loss(dropped: dropped, standing: report(wasActive ? .interrupted : .connecting))
        }
        guard let name else {
            phase = .online(.nobody)
            return loss.map { .vanished($0) } ?? .absent
        }
        phase = .online(.candidate(name, HeldSignals()))
        let candidate = Candidate(name: name, generation: generation, isNew: isNew)
        return loss.map { .replaced($0, by: candidate) } ?? .appeared(candidate)
    }
    /// Answers that are under way no longer count. Returns how many signals are dropped.
    private mutating func leave(for next: Phase) -> Int {
        defer { phase = next }
        generation += 1
        owesAnswers = false
        if case .online = next {} else { (question, suspectsLoss) = (.none, false) }
        if case .online(.candidate(_, let held)) = phase { return held.count }
        return 0
    }
    private mutating func report(_ new: Standing) -> Standing? {
        if isOver || standing == new { return nil }
        standing = new
        return new
    }
}

extension ServiceSession.Question: Hashable {}
extension ServiceSession.HeldSignals: Equatable where Signal: Equatable {}
extension ServiceSession.HeldSignals: Hashable where Signal: Hashable {}
extension ServiceSession.Owner: Equatable where Signal: Equatable {}
extension ServiceSession.Owner: Hashable where Signal: Hashable {}
extension ServiceSession.Phase: Equatable where Signal: Equatable {}
extension ServiceSession.Phase: Hashable where Signal: Hashable {}
extension ServiceSession: Equatable where Signal: Equatable {}
extension ServiceSession: Hashable where Signal: Hashable {}
