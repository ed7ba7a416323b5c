/// A member of a stream: the publisher's subscriptions together, or one positioned subscription. Each has a machine of
/// its own.
final class StreamSubscriber: Hashable, @unchecked Sendable {  // In a turn of the loop only.
    typealias Machine = StreamMachine<(event: StreamEvent, kept: KeptEvents)>
    // Exempt from the run-time check of exclusive access, which the turn already grants: it is asked about every event.
    @exclusivity(unchecked) var machine: Machine
    /// What is wanted; nil stands for every event. Of a positioned subscription it does not change.
    var names: Set<String>?
    /// Of which it is a member; nil once it is none any more. Not counted: it is asked for while its session lives,
    /// which keeps its streams.
    unowned var stream: StreamController?
    /// A positioned subscription's; nil: the publisher's.
    let feed: ReplayBuffer?
    private let token: @Sendable (String) -> Int32
    /// Notifies the cursor of the runs in each answer.
    private let learn: @Sendable ([StreamRun]) -> Void
    /// The feed's numbers for the stream's events, as far as they were asked for.
    private var tokens: [Int32] = []
    /// Counts the requests of `Attach`: only the latest answer counts.
    var generation = 0
    /// An `Attach` that waits until it is known how the events come.
    var waitingAttach: (epoch: UInt64, after: UInt64)?
    /// Counts the requests of `Read`, alike.
    var readGeneration = 0
    /// Where the page begins that is waited for.
    var readAfter: UInt64 = 0
    /// Pages without an event, one after the other.
    var emptyPages = 0
    /// Where the page begins that was requested while the one before it was read.
    var askedAhead: UInt64?
    /// Its next page has a large event, for which a socket has no room.
    var needsMessage = false
    /// The service has no room for another page: its answer is waited for.
    var isPaused = false
    @exclusivity(unchecked) var hasTick = false
    /// The present owner has answered.
    var isAnswered = false
    /// While it is not known where to begin.
    var search: TimeSearch?
    /// Where the stream stood at the first answer.
    private var firstHead: UInt64?
    private var hasMarkedCaughtUp = false
    /// Of the present owner, as far as the feed has it.
    private var hasReportedRefusal = false
    private var reportedMissing: Set<String> = []

    /// The publisher's.
    init(isDurable: Bool) {
        (names, feed) = ([], nil)
        token = { _ in -1 }
        learn = { _ in }
        machine = Machine(isDurable: isDurable)
    }
    /// A positioned subscription's.
    init(
        names: Set<String>?, from start: StreamStart, isDurable: Bool, searching search: TimeSearch?,
        _ feed: ReplayBuffer,
        token: @escaping @Sendable (String) -> Int32, learn: @escaping @Sendable ([StreamRun]) -> Void
    ) {
        (self.names, self.feed, self.search) = (names, feed, search)
        self.token = token
        self.learn = learn
        machine = Machine(from: start, isDurable: isDurable)
    }

    func wants(_ name: String) -> Bool { names?.contains(name) ?? true }
    /// The feed's number for an event; -1: it is not wanted.
    func token(of event: StreamEvent) -> Int32 {
        if event.index < 0 { return -1 }
        while tokens.count <= event.index { tokens.append(.min) }
        if tokens[event.index] == .min { tokens[event.index] = wants(event.name) ? token(event.name) : -1 }
        return tokens[event.index]
    }
    func forgetOwner() {
        generation += 1
        readGeneration += 1
        waitingAttach = nil
        // The stream's numbers are the next owner's.
        tokens = []
        (isAnswered, isPaused, hasReportedRefusal, reportedMissing) = (false, false, false, [])
        (needsMessage, askedAhead, emptyPages) = (false, nil, 0)
        search = search.map { TimeSearch($0.time) }
    }
    func answered(_ attachment: Attachment) {
        isAnswered = true
        learn(attachment.details.runs)
        if firstHead == nil { firstHead = attachment.head }
    }
    /// Marks the place in the feed at which the replay has reached where the stream stood when it began.
    func markCaughtUp() {
        guard let feed, !hasMarkedCaughtUp, let firstHead else { return }
        guard machine.isSettled || machine.position.map({ $0.sequence >= firstHead }) ?? false else { return }
        hasMarkedCaughtUp = true
        feed.appendCaughtUp()
    }
    /// What the present owner lacks; once each.
    func report(refusal: Gap?, missing: [String], _ gap: (String) -> Gap) {
        guard let feed else { return }
        if let refusal, !hasReportedRefusal {
            hasReportedRefusal = true
            feed.append(refusal)
            // Nothing more comes of this owner: a history ends here, too.
            if !hasMarkedCaughtUp { feed.appendCaughtUp() }
            hasMarkedCaughtUp = true
        }
        for name in missing where reportedMissing.insert(name).inserted { feed.append(gap(name)) }
    }

    static func == (a: StreamSubscriber, b: StreamSubscriber) -> Bool { a === b }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
