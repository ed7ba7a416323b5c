@testable import RelayCore

/// A service, the stream of its events and one that joins both with snapshots, as a value: for explorations.
struct JoinWorld: ExploredJoin {
    static let news = Input.publish
    enum Input: CaseIterable {
        /// The service publishes an event; in the second case it does not arrive.
        case publish, publishLost
        /// A new run: in good order, after a crash, and with the last event undone (a restored backup).
        case restart, crash, restore
        /// The service takes the snapshot that it was asked for. In the second case it lacks the run's last event.
        case answer, answerLate
        /// The reply arrives, or there is none and the query is sent again.
        case arrive, fail
        /// The joining side looks at the next item of the stream.
        case take
    }
    private enum Item: Hashable { case event(epoch: UInt64, sequence: UInt64, id: Int), gap(Gap) }
    private struct Reply: Hashable {
        let epoch: UInt64
        let state: [Int]
    }
    private enum Question: Hashable {
        case none, sent
        case answered(Reply)
    }
    let isDurable: Bool
    // The service.
    private var lastID = 0
    private var epoch: UInt64 = 1
    /// What each run has come to: its state is the ids of all events that led there, the sequence is their number.
    private var histories: [UInt64: [Int]] = [1: []]
    /// Where the present run began.
    private var base = 0
    // On the way.
    private var stream: [Item] = []
    private var question = Question.sent
    // The joining side.
    private var join = SnapshotJoin()
    private var held: Item?
    private(set) var state: [Int]?
    /// What contradicts the promise.
    private(set) var fault: String?

    init(isDurable: Bool) { self.isDurable = isDurable }
    private var history: [Int] {
        get { histories[epoch] ?? [] }
        set { histories[epoch] = newValue }
    }
    var isQuiet: Bool { stream.isEmpty && held == nil && question == .none }
    var isCurrent: Bool { state == history }

    /// False: the input does not apply here.
    mutating func apply(_ input: Input) -> Bool {
        switch input {
        case .publish:
            publish()
            stream.append(.event(epoch: epoch, sequence: UInt64(history.count), id: lastID))
        case .publishLost:
            publish()
            let sequence = UInt64(history.count)
            stream.append(.gap(Gap(sequence...sequence, epoch: epoch, count: 1, reason: .lost)))
        case .restart: begin(with: isDurable ? history : [])
        case .crash:
            stream.append(.gap(openEnded(after: history.count)))
            begin(with: isDurable ? history : [])
        case .restore:
            guard isDurable, !history.isEmpty else { return false }
            stream.append(.gap(openEnded(after: history.count - 1)))
            begin(with: history.dropLast())
        case .answer:
            guard question == .sent else { return false }
            question = .answered(Reply(epoch: epoch, state: history))
        case .answerLate:
            guard question == .sent, history.count > base else { return false }
            question = .answered(Reply(epoch: epoch, state: history.dropLast()))
        case .arrive:
            guard case .answered(let reply) = question else { return false }
            question = .none
            join.snapshot(epoch: reply.epoch, sequence: UInt64(reply.state.count))
            state = reply.state
            check()
        case .fail:
            guard case .answered = question else { return false }
            question = .sent
        case .take: return take()
        }
        return true
    }
    private mutating func publish() {
        lastID += 1
        history.append(lastID)
    }
    private mutating func begin(with history: some Sequence<Int>) {
        epoch += 1
        self.history = Array(history)
        base = self.history.count
    }
    private func openEnded(after sequence: Int) -> Gap {
        Gap(UInt64(sequence) + 1...UInt64.max, epoch: epoch, count: nil, reason: .epochChanged)
    }
    private mutating func take() -> Bool {
        if join.needsSnapshot { return false }
        guard let item = held ?? (stream.isEmpty ? nil : stream.removeFirst()) else { return false }
        held = nil
        let step: SnapshotJoin.Step
        switch item {
        case .event(let epoch, let sequence, let id):
            step = join.event(
                Stamp(epoch: epoch, sequence: sequence, previous: 0, publishedAt: Timestamp(microseconds: 0)))
            if step == .apply {
                state?.append(id)
                check()
            }
        case .gap(let gap):
            step = join.gap(gap)
            if step == .apply { fault = "a gap was applied" }
        }
        if step == .ask {
            (held, question) = (item, .sent)
            if !join.needsSnapshot { fault = "asks with a snapshot at hand" }
        }
        return true
    }
    /// The state is that of its run as of its position: nothing is missing, doubled or in another order.
    private mutating func check() {
        guard let position = join.position, let history = histories[position.epoch] else {
            fault = "a state without a position"
            return
        }
        if state != Array(history.prefix(Int(position.sequence))) {
            fault = "\(state ?? []) at \(position.sequence) of run \(position.epoch), which is \(history)"
        }
    }
    /// Answers, delivers and takes until nothing is left. False: that does not end.
    mutating func settle() -> Bool {
        for _ in 0..<200 {
            if fault != nil || isQuiet { return true }
            let progressed = [.arrive, .answer, .take].contains { apply($0) }
            if !progressed { return false }
        }
        return false
    }
}
