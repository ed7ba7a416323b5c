/// How much a service has sent and its slowest receiver has not taken, as a value.
///
/// What the bus holds is known when it has answered; what was sent since the question is counted on top, so that the
/// sum is never less than what is held. Times are nanoseconds of a monotonic clock.
struct BacklogEstimator {
    /// Who knows.
    enum Source: CaseIterable {
        /// dbus-daemon reports what it holds of each sender.
        case sender
        /// dbus-broker reports how much each user has waiting, from all senders.
        case users
        /// Nobody: what waits in libdbus is the only sign, and a late one.
        case queue
    }
    struct Marks: Equatable {
        /// Below, it is little again.
        var low: Int
        /// Above, signals pause.
        var high: Int
        /// Above, not even a `Head` goes out: they would add up, too, while a subscriber stays stopped for days.
        var limit: Int
    }
    /// What is worth a notice.
    enum Change: Equatable {
        /// It has been high for `lasting`, with so many bytes ahead, or because the bus answers late.
        case lasts(bytes: Int, isLate: Bool)
        /// It was reported, and is over.
        case isOver
    }
    private(set) var source = Source.sender
    private(set) var marks = Self.told
    /// What was ahead at the last answer, or look.
    private var held = 0
    /// Sent since that question.
    private var sent = Amount()
    /// A question that waits for its answer: when it was asked, and what was sent since.
    private var question: (at: UInt64, sent: Amount)?
    private(set) var isHigh = false
    /// It is high because the bus answers late.
    private var isLate = false
    private var highSince: UInt64 = 0
    private var isLastingReported = false
    private var askAgainAt: UInt64 = 0

    /// A quarter of what dbus-daemon has built in, at which it stops reading from the sender: 127 MiB. The rest is for
    /// what others of the sender's messages take.
    static let told = Marks(low: 8 << 20, high: 32 << 20, limit: 48 << 20)
    /// What has not even reached the bus.
    static let queued = Marks(low: 2 << 20, high: 16 << 20, limit: 24 << 20)
    private static let askEvery = Amount(bytes: 4 << 20, messages: 256)
    private static let lookEvery = 1 << 20
    /// What dbus-broker counts for a message beside its bytes: 1,420 in version 33.
    private static let brokersShare = 1_536
    private let soon: UInt64
    private let later: UInt64
    /// For so long after it has become high, it is checked soon.
    private let lasting: UInt64
    /// So long after a question, and so many messages, a bus is behind: it makes a copy of each message for each that
    /// listens, and answers in its turn. What it holds, in bytes, does not show that.
    private let late: UInt64

    private struct Amount {
        var bytes = 0
        var messages = 0
        /// In one respect.
        func exceeds(_ other: Self) -> Bool { bytes > other.bytes || messages > other.messages }
        static func += (amount: inout Self, more: Self) {
            amount.bytes += more.bytes
            amount.messages += more.messages
        }
    }

    init(_ timing: ServiceTiming.Signals = ServiceTiming.Signals()) {
        soon = MonotonicClock.nanoseconds(timing.soon)
        later = MonotonicClock.nanoseconds(timing.later)
        lasting = MonotonicClock.nanoseconds(timing.lasting)
        late = MonotonicClock.nanoseconds(timing.lateAnswer)
    }

    private var ahead: Int { held + sent.bytes }
    private mutating func count(_ bytes: Int, _ messages: Int) {
        let amount = Amount(bytes: bytes, messages: messages)
        sent += amount
        question?.sent += amount
    }
    private func isLate(_ now: () -> UInt64) -> Bool {
        guard let question, question.sent.messages >= Self.askEvery.messages else { return false }
        return now() >= question.at + late
    }
    private func cost(_ bytes: Int, _ messages: Int) -> Int {
        bytes + (source == .users ? messages * Self.brokersShare : 0)
    }

    // MARK: Sending

    /// Whether signals may be sent, of so many bytes altogether; counts them if so. If not, it is high, until it is
    /// low.
    mutating func admits(_ bytes: Int, messages: Int, now: @autoclosure () -> UInt64) -> Bool {
        if isHigh { return false }
        let cost = cost(bytes, messages)
        isLate = isLate(now)
        if isLate || ahead + cost > marks.high {
            (isHigh, highSince) = (true, now())
            return false
        }
        count(cost, messages)
        return true
    }
    /// Whether a `Head` may be sent; counts it if so.
    mutating func admitsHead(_ bytes: Int, messages: Int) -> Bool {
        let cost = cost(bytes, messages)
        if ahead + cost > marks.limit { return false }
        count(cost, messages)
        return true
    }
    /// How long to wait for the next look.
    func pace(_ now: UInt64) -> Duration {
        .nanoseconds(isHigh && now > highSince + lasting ? later : soon)
    }

    /// What has changed since the last call that is worth a notice: each once.
    mutating func takeChange(_ now: UInt64) -> Change? {
        if isHigh && !isLastingReported && now >= highSince + lasting {
            isLastingReported = true
            return .lasts(bytes: ahead, isLate: isLate)
        }
        if isHigh || !isLastingReported { return nil }
        isLastingReported = false
        return .isOver
    }

    // MARK: Asking

    /// Whether enough was sent to look at the queue, or to ask the bus.
    var isDue: Bool {
        source == .queue ? isHigh || sent.bytes > Self.lookEvery : question == nil && sent.exceeds(Self.askEvery)
    }
    /// Whether it is high, and time to ask again.
    func isDue(at now: UInt64) -> Bool { isHigh && (source == .queue || question == nil && now >= askAgainAt) }
    mutating func asked(_ now: UInt64) { question = (now, Amount()) }
    /// The bus held so much when it came to the question.
    ///
    /// - Parameter room: how much it would hold at the most, if it reports that.
    mutating func answered(_ bytes: Int, room: Int? = nil, now: UInt64) {
        if let room {
            let part = room / 8
            marks = Marks(
                low: min(Self.told.low, part / 4), high: min(Self.told.high, part),
                limit: min(Self.told.limit, part + part / 2))
        }
        (held, sent, question) = (bytes, question?.sent ?? Amount(), nil)
        // A little before the next tick, which should find it due.
        askAgainAt = now + (now > highSince + lasting ? later : soon) / 10 * 9
        settle()
    }
    /// The bus did not answer in time: nothing is known that was not before.
    mutating func unanswered() { question = nil }
    /// The bus does not report it: another source is asked from now on.
    mutating func refused() {
        question = nil
        source = source == .sender ? .users : .queue
        if source == .queue { marks = Self.queued }
    }
    /// So much waits in libdbus.
    mutating func looked(_ bytes: Int) {
        (held, sent) = (bytes, Amount())
        settle()
    }
    private mutating func settle() { if ahead < marks.low { isHigh = false } }
}
