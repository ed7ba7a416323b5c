/// Decides when a service that nobody uses any more ends, as a value.
///
/// It is given what holds the service at a moment, and each use of it; it returns whether to look again, or to end.
///
/// Invariants: it ends only while nothing holds the service, and not before the service was idle for its whole limit.
/// While nothing holds the service, there is always a moment for the next look.
struct IdleMachine: Hashable {
    /// What keeps a service from ending, in numbers.
    struct Holds: Hashable {
        /// Attached peers and open rings.
        var subscribers = 0
        /// Calls that run, wait, or are not known yet to be allowed.
        var calls = 0
        /// Activity tokens.
        var tokens = 0
        /// Units of work that the journal has not finished.
        var units = 0
        var isNone: Bool { self == Self() }
    }
    /// What a peer did.
    enum Use {
        /// It asked what the service is or offers: another call will follow at once, if any.
        case look
        /// It called a command, attached, or read.
        case work
    }
    enum Action: Hashable {
        /// What holds the service reports its end.
        case none
        case look(at: UInt64)
        case end
    }
    private let limit: UInt64
    private let afterLook: UInt64
    private var isUsed: Bool
    private var wasHeld = false
    /// When the last hold or use was over.
    private var since: UInt64
    /// Until when it waits for its first use.
    private let firstUntil: UInt64
    /// Until when it waits behind a look.
    private var lookUntil: UInt64 = 0
    /// It has decided to end, and takes that back no more: the service manager may know already.
    private(set) var isOver = false

    /// - Parameters:
    ///   - limit: how long the service is idle before it ends, in nanoseconds.
    ///   - isUsed: whether there was a use already.
    init(limit: UInt64, isUsed: Bool, now: UInt64, timing: ServiceTiming.Idle) {
        (self.limit, self.isUsed, since) = (limit, isUsed, now)
        afterLook = MonotonicClock.nanoseconds(timing.afterLook)
        firstUntil = MonotonicClock.deadline(after: timing.firstUse, from: now)
    }
    mutating func used(_ use: Use, now: UInt64) {
        since = now
        switch use {
        case .look: lookUntil = Self.sum(now, afterLook)
        case .work: isUsed = true
        }
    }
    mutating func look(_ holds: Holds, now: UInt64) -> Action {
        if isOver { return .none }
        guard holds.isNone else {
            wasHeld = true
            return .none
        }
        if wasHeld { (wasHeld, since) = (false, now) }
        let due = max(Self.sum(since, limit), lookUntil, isUsed ? 0 : firstUntil)
        if now < due { return .look(at: due) }
        isOver = true
        return .end
    }
    private static func sum(_ time: UInt64, _ duration: UInt64) -> UInt64 {
        let (sum, isOver) = time.addingReportingOverflow(duration)
        return isOver ? .max : sum
    }
}
