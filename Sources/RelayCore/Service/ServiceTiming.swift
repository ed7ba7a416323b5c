/// All timing of a service, with the reason for each figure. A test sets what it does not want to wait for.
///
/// Not here is what a program determines, such as the patience of `stop` and the time for which a service is idle.
package struct ServiceTiming: Hashable, Sendable {
    package var bus = BusTiming()
    package var accounts = AccountTiming()
    package var notices = NoticeTiming()
    package var signals = Signals()
    package var idle = Idle()

    // MARK: Peers

    /// For the bus to report a peer's credentials before it is asked again, four times in all: together less than the
    /// peer's calls wait.
    package var lookUp = Duration.seconds(5)
    /// For an answer of polkit that asks nobody.
    package var authority = Duration.seconds(10)
    /// For one that a person gives, who looks for a password.
    package var prompt = Duration.seconds(120)
    /// Between attempts to ask polkit again about a permission: it is being started, or has too much to do.
    package var recheck = Duration.seconds(1)
    /// Between two rounds of questions about permissions of which nobody has announced a change: that may have been
    /// lost.
    package var permissions = Duration.seconds(60)

    /// The bus is asked who is there, soon after a call, since it may have lost the announcement of a departure.
    package var census = TimerWindow(delay: .seconds(3), slack: .seconds(2))
    /// The same while peers are there that do not call. Mostly when the loop is awake anyway.
    package var leisurelyCensus = TimerWindow(delay: .seconds(20), slack: .seconds(10))
    /// For its answer, before it is asked again.
    package var censusAnswer = Duration.seconds(5)

    // MARK: Replies

    /// How long a reply waits for its peer to read others: as long as its caller waits for it.
    package var reply = Duration.seconds(25)
    /// Between two questions to the bus about a peer that has not read: each costs the bus a look at all its queues.
    package var replyLook = Duration.milliseconds(500)
    /// For the bus to report what it holds. The answer comes in the order of what was sent, which the bus may take
    /// slowly.
    package var figures = Duration.seconds(10)
    /// How long a command waits to run whose reply has descriptors, as a call of `OpenRing` does.
    package var descriptorCall = Duration.seconds(2)
    /// Between two looks whether replies with descriptors were read, while a command or a call of `OpenRing` waits for
    /// their room.
    package var roomLook = Duration.milliseconds(20)
    /// Between two looks whether a caller has room for progress again: a person sees five a second as steady.
    package var progressLook = Duration.milliseconds(200)
    /// Between two values of progress where the bus does not report what was read: nothing else bounds them.
    package var progressPace = Duration.milliseconds(100)

    // MARK: Rings

    /// Until a ring is tried again for which there was no memory: it takes long to find out.
    package var ringMemory = Duration.seconds(10)
    /// Between two replacements of a ring that cannot be handed out any more. Who breaks rings makes all their readers
    /// attach again, but no faster than this.
    package var ringReplacement = Duration.seconds(10)

    // MARK: The start, the journal and the end

    /// For the bus to answer the match rules of a start: that of a call.
    package var matchRules = Duration.seconds(25)
    /// So long a commit has to take to be worth a notice: a disk that sleeps takes a few seconds.
    package var commit = Duration.seconds(5)
    /// How long a cancelled handler has to end by itself.
    package var grace = Duration.seconds(1)
    /// How long the bus may take nothing of what was published before the service gives it up.
    package var drain = Duration.seconds(5)

    package init(_ change: (inout Self) -> Void = { _ in }) { change(&self) }

    /// When signals pause and go on, and when a stream's head is announced.
    package struct Signals: Hashable, Sendable {
        /// After so long without an event the head is announced, which confirms the last one: soon, and once for a
        /// burst.
        package var quiet = Duration.seconds(1)
        /// From a pause's beginning to the first look at it.
        package var firstLook = Duration.milliseconds(100)
        /// Between two looks while the ring brings the events to all that attached: a `Head` is for plain clients alone,
        /// and no later than after a quiet second.
        package var late = Duration.seconds(1)
        /// How long few events have to come, and the bus has to hold little, before signals go on: a budget is one of
        /// seconds.
        package var calm = Duration.seconds(1)
        /// Between two questions to the bus while it holds much.
        package var soon = Duration.milliseconds(100)
        /// The same once that lasts: a subscriber may stand still for days.
        package var later = Duration.seconds(1)
        /// For the bus to answer that question while many signals go out, before it counts as behind. A bus that has the
        /// processor's time for it answers within milliseconds.
        package var lateAnswer = Duration.seconds(1)
        /// From when on it lasts, and is worth a notice.
        package var lasting = Duration.seconds(10)
    }
    /// When a service that nobody uses ends, beside its own limit.
    package struct Idle: Hashable, Sendable {
        /// How long it waits for its first use: for a peer that had it started, and is about to attach.
        package var firstUse = Duration.seconds(10)
        /// How long it waits after a peer has asked what it is or offers: another call will follow at once, if any.
        package var afterLook = Duration.seconds(1)
        /// Between two looks at what has no end that is reported: at first, as most of it is over soon, and at most.
        package var looks = Duration.milliseconds(1)...Duration.milliseconds(250)
    }
}
