/// Which of a relay's calls go out, when, and for which contract, as a value.
///
/// A call is encoded for the service's contract, so the service is asked for that before the first one. What it answered
/// stays a guess when the service gets another owner: a call names the contract in its path, and one that meets another
/// contract is not run. It then waits in its old place until the contract is known again.
///
/// Invariants, in every interleaving of what can happen (`CallMachineTests`):
/// - No call is sent before the contract is known, and none by more than one question once that is known.
/// - Calls that meet the same owners run in the order in which they were made.
/// - A call that can be sent once only, as its descriptors are closed then, is sent for a contract that the present
///   owner has reported.
/// - A call that has ended is not sent again, and none is sent again more often than `resends`.
struct CallMachine<Call: Sendable, Contract: Hashable & Sendable>: Sendable {
    /// What a call needs.
    enum Kind: Hashable, Sendable {
        /// A method that every service has, in the same form.
        case standard
        /// A command: it is encoded for a contract.
        case command
        /// The same, and it cannot be sent twice.
        case commandOnce
    }
    /// A call in its place.
    struct Entry: Sendable {
        let call: Call
        let kind: Kind
        fileprivate let number: UInt64
        /// How often it has met another contract than it was encoded for.
        fileprivate(set) var refusals = 0
    }
    enum Step: Sendable {
        /// Ask the service for its contract.
        case ask
        /// Send the call; for this contract, unless it is a standard one.
        case send(Entry, Contract?)
    }
    /// What becomes of a call that met another contract.
    enum Refusal: Hashable, Sendable {
        /// It waits for the contract.
        case waits
        /// It cannot be sent twice.
        case isOver
        /// It has been sent again often enough.
        case isHopeless
    }
    private enum Question: Hashable, Sendable {
        case none
        /// Of an owner that is still the present one, as far as is known.
        case asked(isCurrent: Bool)
        /// It could not be answered, and is asked again after a while.
        case paused
    }
    /// How often a call is sent again, after it met another contract.
    static var resends: Int { 3 }
    /// How often in succession the service may leave the question unanswered, before the calls that wait for the answer
    /// end.
    static var questions: Int { 3 }
    /// How many calls may wait.
    static var limit: Int { 1_024 }

    /// In their order.
    private(set) var waiting: [Entry] = []
    private var lastNumber: UInt64 = 0
    /// What the service reported last.
    private(set) var contract: Contract?
    /// The present owner itself reported it.
    private var isConfirmed = false
    private var question = Question.none
    private var unanswered = 0

    var isEmpty: Bool { waiting.isEmpty }

    // MARK: Calls

    /// A call that need not wait for others, nor for the contract: it may go out now. Otherwise `wait` has to be called.
    mutating func direct(_ call: Call, _ kind: Kind) -> Step? {
        guard waiting.isEmpty, isReady(kind) else { return nil }
        lastNumber += 1
        return .send(Entry(call: call, kind: kind, number: lastNumber), kind == .standard ? nil : contract)
    }
    /// A call waits behind all earlier ones. False where too many wait.
    mutating func wait(_ call: Call, _ kind: Kind) -> Bool {
        if waiting.count >= Self.limit { return false }
        lastNumber += 1
        waiting.append(Entry(call: call, kind: kind, number: lastNumber))
        return true
    }
    /// A call that waits has ended.
    mutating func remove(where isMeant: (Call) -> Bool) -> Call? {
        waiting.firstIndex { isMeant($0.call) }.map { waiting.remove(at: $0).call }
    }
    /// All that wait end.
    mutating func takeAll() -> [Call] {
        defer { waiting = [] }
        return waiting.map(\.call)
    }
    /// The next step, where there is one.
    ///
    /// - Parameters:
    ///   - mayAsk: there is somebody to ask.
    ///   - maySend: whether a call may go out to the service now.
    mutating func next(mayAsk: Bool, maySend: (Call) -> Bool) -> Step? {
        guard let first = waiting.first else { return nil }
        guard isReady(first.kind) else {
            guard mayAsk, question == .none else { return nil }
            question = .asked(isCurrent: true)
            return .ask
        }
        guard maySend(first.call) else { return nil }
        waiting.removeFirst()
        return .send(first, first.kind == .standard ? nil : contract)
    }
    private func isReady(_ kind: Kind) -> Bool {
        switch kind {
        case .standard: true
        case .command: contract != nil
        case .commandOnce: contract != nil && isConfirmed
        }
    }
    /// A call met another contract than it was encoded for, and has not run.
    mutating func refused(_ entry: Entry, for refused: Contract) -> Refusal {
        doubt(refused)
        if entry.kind == .commandOnce { return .isOver }
        if entry.refusals >= Self.resends { return .isHopeless }
        var entry = entry
        entry.refusals += 1
        // Before all that were made later.
        waiting.insert(entry, at: waiting.firstIndex { $0.number > entry.number } ?? waiting.count)
        return .waits
    }

    // MARK: The contract

    /// The service has another one, by whichever way that was found.
    mutating func doubt(_ refused: Contract) {
        if contract == refused { (contract, isConfirmed) = (nil, false) }
    }
    /// The service has answered.
    mutating func learned(_ contract: Contract) {
        guard case .asked(let isCurrent) = question else { return }
        (self.contract, isConfirmed, question, unanswered) = (contract, isCurrent, .none, 0)
    }
    /// The service has not answered, or with an error.
    ///
    /// - Parameter isPassing: it may answer the next time.
    /// - Returns: the calls that end; nil: it is asked again, at the latest when `resume` is called after a while.
    mutating func failed(isPassing: Bool) -> [Call]? {
        guard case .asked(let isCurrent) = question else { return nil }
        unanswered += 1
        // What another owner did not answer says nothing about this one: it is asked at once.
        if (isPassing || !isCurrent) && unanswered < Self.questions {
            question = isCurrent ? .paused : .none
            return nil
        }
        (question, unanswered) = (.none, 0)
        let ended = waiting.filter { $0.kind != .standard }
        waiting.removeAll { $0.kind != .standard }
        return ended.map(\.call)
    }
    /// The service may be asked again.
    mutating func resume() { if question == .paused { question = .none } }
    /// The service has another owner, or none: what is known becomes a guess.
    mutating func ownerChanged() {
        isConfirmed = false
        switch question {
        case .none: break
        case .asked: question = .asked(isCurrent: false)
        case .paused: question = .none
        }
    }
}

extension CallMachine.Entry: Equatable where Call: Equatable {}
extension CallMachine.Entry: Hashable where Call: Hashable {}
extension CallMachine.Step: Equatable where Call: Equatable {}
extension CallMachine.Step: Hashable where Call: Hashable {}
extension CallMachine: Equatable where Call: Equatable {}
extension CallMachine: Hashable where Call: Hashable {}
