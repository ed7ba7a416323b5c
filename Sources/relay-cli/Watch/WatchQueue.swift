import RelayCore
import Synchronization
import RelayWire

/// What the bus side tells `watch`, in its order.
enum WatchInput: Sendable {
    case event(Envelope)
    case gap(interface: String, Gap)
    case state(ServiceState)
    /// The bus cannot be reached, in words; it is tried again.
    case outage(String)
}

/// Where the service is.
enum ServiceState: Sendable, Equatable {
    /// There.
    case active
    /// It or the bus went away; what comes next may be `active` again.
    case interrupted
    /// It will not come back.
    case invalidated(CLIFailure)
}

/// Between the bus's thread, which must never wait, and a terminal, which may.
final class WatchQueue: Sendable {
    /// What came of an action. Past all events: they cannot be read before it.
    enum Answer: Sendable {
        case discovered(Discovery.Outcome)
        case following
        /// In place of `following`: where events are to be taken from, and what there is to say.
        case begun([WatchSource], notes: [String])
        case refused(CLIFailure)
        /// The present states of documents, and what there is to say.
        case states([DocumentState], notes: [String])
    }
    private struct State {
        var inputs: BoundedInputs
        var answers: [Answer] = []
    }
    private let state: Mutex<State>
    private let wakeup: Wakeup

    init(limit: Int = 65_536, bytes: Int = 64 << 20, wakeup: Wakeup) {
        state = Mutex(State(inputs: BoundedInputs(limit: limit, bytes: bytes)))
        self.wakeup = wakeup
    }

    /// From any thread.
    func append(_ input: WatchInput) {
        let wasEmpty = state.withLock { state in
            defer { state.inputs.append(input) }
            return state.inputs.isEmpty
        }
        if wasEmpty { wakeup.wake() }
    }
    /// One for each action, so that there are never many.
    func post(_ answer: Answer) {
        state.withLock { $0.answers.append(answer) }
        wakeup.wake()
    }

    func takeAll() -> [WatchInput] { state.withLock { $0.inputs.takeAll() } }
    func takeAnswers() -> [Answer] {
        state.withLock { state in
            defer { state.answers = [] }
            return state.answers
        }
    }
}

/// What has arrived and is not yet shown: bounded, since a terminal may stand still for hours. What is past the bound is
/// counted and becomes a gap.
struct BoundedInputs {
    /// Events missing in one run of one interface.
    private struct Missing {
        let interface: String
        let epoch: UInt64
        var first: UInt64
        var last: UInt64
        /// nil where a gap that arrived did not know.
        var count: Int?
    }
    /// Runs of services that come and go while nobody looks. Past it the oldest are counted in the next.
    private static let mostGaps = 64

    private let limit: Int
    private let byteLimit: Int
    private var inputs: [WatchInput] = []
    private var bytes = 0
    private var missing: [Missing] = []
    private var lastState: ServiceState?

    init(limit: Int, bytes: Int) { (self.limit, byteLimit) = (limit, bytes) }

    private var isFull: Bool { inputs.count >= limit || bytes >= byteLimit || !missing.isEmpty }
    var isEmpty: Bool { inputs.isEmpty && missing.isEmpty && lastState == nil }

    mutating func append(_ input: WatchInput) {
        guard isFull else {
            if case .event(let event) = input { bytes += event.body.count }
            inputs.append(input)
            return
        }
        // Until somebody takes what is here, all that comes is missing: order stays, and a gap is one gap.
        switch input {
        case .event(let event):
            let sequence = event.stamp.sequence
            miss(event.interface, event.stamp.epoch, sequence...sequence, 1)
        case .gap(let interface, let gap): miss(interface, gap.epoch, gap.sequences, gap.count)
        case .state(let state): lastState = state
        // What became of it, the next state shows.
        case .outage: break
        }
    }

    private mutating func miss(_ interface: String, _ epoch: UInt64, _ sequences: ClosedRange<UInt64>, _ count: Int?) {
        if let index = missing.lastIndex(where: { $0.epoch == epoch && $0.interface == interface }) {
            missing[index].first = min(missing[index].first, sequences.lowerBound)
            missing[index].last = max(missing[index].last, sequences.upperBound)
            missing[index].count = Self.sum(missing[index].count, count)
            return
        }
        missing.append(
            Missing(
                interface: interface, epoch: epoch, first: sequences.lowerBound, last: sequences.upperBound,
                count: count))
        if missing.count > Self.mostGaps {
            let oldest = missing.removeFirst()
            missing[0].count = Self.sum(oldest.count, missing[0].count)
        }
    }
    private static func sum(_ first: Int?, _ second: Int?) -> Int? {
        guard let first, let second else { return nil }
        let (sum, isTooMuch) = first.addingReportingOverflow(second)
        return isTooMuch ? .max : sum
    }

    /// Everything, gaps in their place: at the end, as nothing was taken in after them.
    mutating func takeAll() -> [WatchInput] {
        var taken = inputs
        for gap in missing {
            taken.append(
                .gap(
                    interface: gap.interface,
                    Gap(gap.first...gap.last, epoch: gap.epoch, count: gap.count, reason: .overflow)))
        }
        if let lastState { taken.append(.state(lastState)) }
        inputs.removeAll(keepingCapacity: false)
        (bytes, missing, lastState) = (0, [], nil)
        return taken
    }
}
