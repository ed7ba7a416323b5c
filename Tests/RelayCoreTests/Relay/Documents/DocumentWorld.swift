@testable import RelayCore

/// A service that holds a document, the stream of its entries and one that follows it, as a value: for explorations.
struct DocumentWorld: ExploredJoin {
    static let news = Input.set
    enum Input: CaseIterable {
        /// The service sets another state; in the second case its entry does not arrive.
        case set, setLost
        /// It sets the state that was before the present one.
        case setBack
        /// Another event of the interface, which the follower does not see.
        case other
        /// A new run: in good order, after a crash, and with the last entry undone (a restored backup).
        case restart, crash, restore
        /// The service answers the question for the present state.
        case answer
        /// The reply arrives, or there is none and the question is asked again.
        case arrive, fail
        /// The follower looks at the next item of the stream.
        case take
    }
    private struct Entry: Hashable {
        let sequence: UInt64
        let state: Int
    }
    private enum Item: Hashable { case entry(epoch: UInt64, Entry), gap(Gap) }
    private struct Reply: Hashable {
        let epoch: UInt64
        let entry: Entry
    }
    private enum Question: Hashable {
        case none, sent
        case answered(Reply)
    }
    let isDurable: Bool
    // The service.
    private var lastState = 0
    private var epoch: UInt64 = 1
    /// The entries that led to each run's state.
    private var histories: [UInt64: [Entry]] = [1: []]
    private var head: UInt64 = 0
    /// The run of the last item of the stream: a later one may have begun without a word in it.
    private var streamEpoch: UInt64 = 1
    // On the way.
    private var stream: [Item] = []
    private var question = Question.sent
    // The follower.
    private var join = SnapshotJoin(eventsAreStates: true)
    private var held: Item?
    private var shown: Int?
    private var version: DocumentVersion?
    /// What contradicts the promise.
    private(set) var fault: String?

    init(isDurable: Bool) { self.isDurable = isDurable }
    private var history: [Entry] {
        get { histories[epoch] ?? [] }
        set { histories[epoch] = newValue }
    }
    private var present: Entry { history.last ?? Entry(sequence: 0, state: 0) }
    var isQuiet: Bool { stream.isEmpty && held == nil && question == .none }
    var isCurrent: Bool { shown == present.state }

    /// False: the input does not apply here.
    mutating func apply(_ input: Input) -> Bool {
        switch input {
        case .set, .setLost:
            lastState += 1
            enter(lastState, arrives: input == .set)
        case .setBack:
            guard history.count > 1 else { return false }
            enter(history[history.count - 2].state, arrives: true)
        case .other: head += 1
        case .restart: begin(with: isDurable ? history : [])
        case .crash:
            stream.append(.gap(openEnded(after: head)))
            begin(with: isDurable ? history : [])
        case .restore:
            guard isDurable, let last = history.last else { return false }
            stream.append(
                .gap(
                    Gap(
                        last.sequence...UInt64.max, epoch: streamEpoch, count: nil, reason: .historyReplaced,
                        commonThrough: last.sequence - 1)))
            begin(with: history.dropLast())
            streamEpoch = epoch
        case .answer:
            guard question == .sent else { return false }
            question = .answered(Reply(epoch: epoch, entry: present))
        case .arrive:
            guard case .answered(let reply) = question else { return false }
            question = .none
            join.snapshot(epoch: reply.epoch, sequence: reply.entry.sequence)
            show(reply.entry, epoch: reply.epoch, isSnapshot: true)
        case .fail:
            guard case .answered = question else { return false }
            question = .sent
        case .take: return take()
        }
        return true
    }
    private mutating func enter(_ state: Int, arrives: Bool) {
        head += 1
        streamEpoch = epoch
        let entry = Entry(sequence: head, state: state)
        history.append(entry)
        stream.append(
            arrives
                ? .entry(epoch: epoch, entry)
                : .gap(Gap(head...head, epoch: epoch, count: 1, reason: .lost)))
    }
    private mutating func begin(with history: some Sequence<Entry>) {
        epoch += 1
        self.history = Array(history)
        head = isDurable ? max(self.history.last?.sequence ?? 0, 0) : 0
    }
    private func openEnded(after sequence: UInt64) -> Gap {
        Gap(sequence + 1...UInt64.max, epoch: epoch, count: nil, reason: .epochChanged)
    }
    private mutating func take() -> Bool {
        if join.needsSnapshot { return false }
        guard let item = held ?? (stream.isEmpty ? nil : stream.removeFirst()) else { return false }
        held = nil
        let step: SnapshotJoin.Step
        switch item {
        case .entry(let epoch, let entry):
            step = join.event(
                Stamp(epoch: epoch, sequence: entry.sequence, previous: 0, publishedAt: Timestamp(microseconds: 0)))
            if step == .apply { show(entry, epoch: epoch, isSnapshot: false) }
        case .gap(let gap):
            step = join.gap(gap)
            if step == .apply { fault = "a gap was applied" }
        }
        if step == .ask { (held, question) = (item, .sent) }
        return true
    }
    /// What the follower's handler is called with.
    private mutating func show(_ entry: Entry, epoch: UInt64, isSnapshot: Bool) {
        defer { version = DocumentVersion(epoch: epoch, sequence: entry.sequence) }
        guard let history = histories[epoch] else { return fault = "a state of no run" }
        if entry.sequence > 0, !history.contains(entry) { fault = "\(entry) is not of run \(epoch): \(history)" }
        if let version, version.epoch == epoch {
            if entry.sequence < version.sequence { fault = "\(entry) after \(version)" }
            if entry.sequence == version.sequence, entry.state != shown { fault = "two states of \(version)" }
            // Nothing lies between two states but where a snapshot made up for a gap.
            if !isSnapshot,
                let missed = history.first(where: { $0.sequence > version.sequence && $0.sequence < entry.sequence })
            {
                fault = "\(missed) was lost before \(entry)"
            }
        }
        // Nor where a run followed another in good order.
        if let version, version.epoch < epoch, !isSnapshot {
            let known = isDurable ? version.sequence : 0
            if let missed = history.first(where: { $0.sequence > known && $0.sequence < entry.sequence }) {
                fault = "\(missed) was lost before \(entry), with the change of runs"
            }
        }
        if let version, version.epoch > epoch { fault = "run \(epoch) after \(version.epoch)" }
        shown = entry.state
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
