/// Who has the service's name, and what came from an owner before it was verified, as a value.
///
/// Invariant: a signal gets out only if it was sent by an owner that was verified while it had the name. What an owner sent that
/// left, was refused, or went out of sight before that is dropped.
struct NameOwner<Signal> {
    /// What to do with a signal.
    enum Verdict: Hashable {
        /// It is not the owner's.
        case drop
        /// It is of an owner that is not verified yet.
        case hold
        case take
    }
    private enum Standing {
        /// The bus has not answered yet.
        case unknown
        case nobody
        case candidate(String)
        case verified(String)
    }
    private var standing = Standing.unknown
    private var held: [Signal] = []
    private var cost = 0
    private var overlooked = 0
    /// Counts what was learnt, so that answers about a former owner are dropped.
    private(set) var generation = 0
    private let countLimit: Int
    private let costLimit: Int

    /// - Parameters:
    ///   - countLimit: how many signals of a candidate are held. Those past it are lost, as if the bus had lost them.
    ///   - costLimit: how much they may cost together, in bytes.
    init(countLimit: Int, costLimit: Int) { (self.countLimit, self.costLimit) = (countLimit, costLimit) }

    /// The unique name behind the service's, once it was verified: the only one that is believed.
    @inline(__always) var verified: String? { if case .verified(let name) = standing { name } else { nil } }
    /// Who has the name, while it is asked whether that one meets the requirement.
    var candidate: String? { if case .candidate(let name) = standing { name } else { nil } }
    /// Either.
    var present: String? { verified ?? candidate }
    /// Whether the bus has said who owns the name, be it nobody.
    var isKnown: Bool { if case .unknown = standing { false } else { true } }

    /// - Parameter isFrom: whether the signal's sender has this unique name.
    @inline(__always) func verdict(_ isFrom: (String) -> Bool) -> Verdict {
        switch standing {
        case .verified(let name): isFrom(name) ? .take : .drop
        case .candidate(let name): isFrom(name) ? .hold : .drop
        case .unknown, .nobody: .drop
        }
    }
    /// Keeps a signal of the candidate until it is verified.
    mutating func hold(_ signal: Signal, cost: Int) {
        guard case .candidate = standing else { return }
        let (sum, isOver) = self.cost.addingReportingOverflow(max(0, cost))
        if held.count >= countLimit || isOver || sum > costLimit { return overlooked += 1 }
        self.cost = sum
        held.append(signal)
    }
    /// The bus says that this one has the name now, or nobody. Returns how many signals of the former owner are dropped.
    mutating func changed(to name: String?) -> Int {
        defer { standing = name.map { .candidate($0) } ?? .nobody }
        return forget()
    }
    /// The bus is gone. Returns how many signals are dropped.
    mutating func lost() -> Int {
        defer { standing = .unknown }
        return forget()
    }
    /// The candidate of this generation meets the requirement. Returns what it has sent since it took the name, in order; nil when
    /// it is not the candidate any more, and nothing was done.
    mutating func verify(_ generation: Int) -> [Signal]? {
        guard generation == self.generation, case .candidate(let name) = standing else { return nil }
        let signals = held
        (standing, held, cost, overlooked) = (.verified(name), [], 0, 0)
        return signals
    }
    private mutating func forget() -> Int {
        defer { (held, cost, overlooked) = ([], 0, 0) }
        generation += 1
        return held.count + overlooked
    }
}

/// A signal of an owner that is not verified yet, copied out of its message.
struct HeldSignal {
    let stream: FollowedStream
    /// Not one of `Stream1`.
    let isEvent: Bool
    let member: String
    let signature: [UInt8]
    let body: [UInt8]
}
