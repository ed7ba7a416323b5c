/// Chooses what is shown of more events than anybody can read: of each event's name its share, so that rare ones are
/// not lost among frequent ones.
struct LineSampler {
    /// A kind of event, while it is seen now and then.
    private struct Kind {
        /// Lines that may come at once, in millionths.
        var credit: Int64
        var filledAt: UInt64
        var seenAt: UInt64
    }
    private struct Key: Hashable {
        let interface: String
        let name: String
    }
    /// Microseconds.
    private static let second: UInt64 = 1_000_000
    /// A burst may have as many lines as come in this many seconds.
    private static let burst: Int64 = 4

    let perSecond: Int64
    private var kinds: [Key: Kind] = [:]
    private var forgetAt: UInt64 = 0
    private var skipped: [String: UInt64] = [:]
    /// When it is time to report what was skipped, by the clock of `takes`; nil: nothing was.
    private(set) var reportsAt: UInt64?

    /// - Parameter perSecond: lines, of all kinds together; at least 1.
    init(perSecond: UInt64) { self.perSecond = Int64(min(max(1, perSecond), 1_000_000)) }

    /// Whether an event is shown. `now` is in microseconds; a clock that is set back costs a second's choice.
    mutating func takes(_ interface: String, _ name: String, now: UInt64) -> Bool {
        let now = Self.bounded(now)
        let key = Key(interface: interface, name: name)
        if now >= forgetAt || forgetAt > now + 2 * Self.second {
            kinds = kinds.filter { now &- $0.value.seenAt < 2 * Self.second }
            forgetAt = now + Self.second
        }
        var kind = kinds[key] ?? Kind(credit: .max, filledAt: now, seenAt: now)
        let others = Int64(kinds.count) + (kinds[key] == nil ? 1 : 0)
        let share = max(1_000_000, perSecond * 1_000_000 / others)
        let passed = now >= kind.filledAt ? min(now - kind.filledAt, 8 * Self.second) : Self.second
        let (more, isTooMuch) = kind.credit.addingReportingOverflow(Int64(passed) * (share / 1_000_000))
        kind.credit = min(isTooMuch ? .max : more, share * Self.burst)
        (kind.filledAt, kind.seenAt) = (now, now)
        let isTaken = kind.credit >= 1_000_000
        if isTaken { kind.credit -= 1_000_000 } else { skip(interface, now) }
        kinds[key] = kind
        return isTaken
    }
    /// Far enough from the end of the numbers to be reckoned with.
    private static func bounded(_ time: UInt64) -> UInt64 { min(time, .max / 2) }

    private mutating func skip(_ interface: String, _ now: UInt64) {
        skipped[interface, default: 0] += 1
        if reportsAt == nil { reportsAt = now + Self.second }
    }

    /// How many events of each interface were skipped since the last time; empty while it is too early, unless that
    /// does not matter.
    mutating func takeSkipped(now: UInt64, isLast: Bool = false) -> [(interface: String, count: UInt64)] {
        let now = Self.bounded(now)
        guard let time = reportsAt, isLast || now >= time || time - now > Self.second else { return [] }
        defer { (skipped, reportsAt) = ([:], nil) }
        return skipped.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}
