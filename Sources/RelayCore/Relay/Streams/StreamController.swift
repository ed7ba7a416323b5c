import Synchronization

/// One followed interface: its members, what is known of its events, and how they come. Asks the owner of its session,
/// and hands what comes to the machine of each member.
///
/// Every call is made in a turn of the loop, and brings the session along: a stream keeps none, so that a job of a
/// session that is gone finds nothing to do.
final class StreamController: @unchecked Sendable {  // In a turn of the loop only.
    let address: StreamAddress
    /// For the publisher's subscriptions; its names are theirs.
    let shared: StreamSubscriber
    /// The shared one first, and one for each positioned subscription.
    @exclusivity(unchecked) private(set) var members: [StreamSubscriber]
    /// There are more than the shared one.
    @exclusivity(unchecked) private(set) var hasOthers = false
    @exclusivity(unchecked) var events: StreamEvents
    private(set) var inlets: StreamInlets
    let counts = StreamCounts()
    /// Whether events come by the ring now. Read on any thread.
    let usesRing = Atomic<Bool>(false)
    /// Keeps what it has parsed of the signatures in pages.
    var pageReader = PageReader()
    /// What the bus passes on, by the rules that it was given; with the numbers of the requests.
    private var rules: [MatchRule: Int] = [:]
    private var ruleRequests = 0
    /// What the bus had no room for when it was last asked.
    private var refusedRules: Set<MatchRule> = []
    var isAskingSchemas = false
    /// Of the present owner: it was asked for events, and sends them, or stays for them.
    private var isAttached = false
    /// Counts the requests of `Attach`, of all members, and the owners.
    private var attachments = 0
    /// Of the present owner: why it cannot be followed.
    var refusal: Gap?
    /// Of the present owner: the events that it lacks, as far as the publisher's subscribers know.
    var reportedMissing: Set<String> = []
    /// Of the present owner: it was asked again without what it lacks.
    var hasLeftOutMissing = false

    init(_ address: StreamAddress, isDurable: Bool, _ transport: RingTransport, _ sink: any SessionSink) {
        self.address = address
        shared = StreamSubscriber(isDurable: isDurable)
        members = [shared]
        events = StreamEvents(address.interface, sink)
        inlets = StreamInlets(transport)
    }
    var interface: String { address.interface }
    var path: String { address.path }
    /// The fields that the present owner's events have, once it has reported them.
    var schemas: StreamSchemas? { events.schemas }

    // MARK: Members

    func add(_ member: StreamSubscriber, _ session: SessionController) {
        members.append(member)
        hasOthers = true
        events.wantsChanged()
        updateRules(session)
        begin(member, session)
        run(member.machine.want(member.names), member, session)
        if member.search != nil { seek(member, session) }
        reportLacking(session)
    }
    func remove(_ member: StreamSubscriber, _ session: SessionController) {
        members.removeAll { $0 === member }
        hasOthers = members.count > 1
        session.pages.withdraw(member)
        updateRules(session)
        endTransportIfUnused(session)
        session.pages.readNext(session)
    }
    /// What the publisher's subscriptions want.
    func want(_ names: Set<String>?, _ session: SessionController) {
        shared.names = names
        events.wantsChanged(of: shared)
        updateRules(session)
        run(shared.machine.want(names), shared, session)
        endTransportIfUnused(session)
        reportLacking(session)
    }
    /// A new machine learns what is known of the owner, and how its events come.
    func begin(_ member: StreamSubscriber, _ session: SessionController) {
        member.machine.reportsLoss = inlets.reportsLoss
        session.introduceOwner(to: &member.machine)
    }
    /// What is wanted of it by anybody; nil stands for every event.
    var names: Set<String>? {
        var all: Set<String> = []
        for member in members {
            guard let names = member.names else { return nil }
            all.formUnion(names)
        }
        return all
    }
    /// Somebody wants something of it.
    var isWanted: Bool { names?.isEmpty != true }
    /// Active once the publisher's subscriptions are in step. A positioned one need only have had its answer: how long
    /// its replay takes is a matter of its own pace.
    var isSettled: Bool {
        refusal != nil
            || members.allSatisfy { $0.machine.isSettled || $0.feed != nil && ($0.isAnswered || $0.search != nil) }
    }
    /// The publisher's subscriptions lack something that is on its way to them. (A positioned one has a pace of its
    /// own.)
    var isCatchingUp: Bool { shared.machine.isReading || inlets.holdsBack }
    /// A member waits for an answer that shows where it stands: what comes meanwhile stays in the ring.
    @inline(__always) var awaitsAnswer: Bool {
        shared.machine.awaitsAnswer || hasOthers && members.contains { $0.machine.awaitsAnswer }
    }

    // MARK: The owner

    /// The owner, or the bus, is gone.
    func forgetOwner(
        _ session: SessionController, _ leave: (inout StreamSubscriber.Machine) -> StreamSubscriber.Machine.Action
    ) {
        for member in members { run(leave(&member.machine), member, session) }
        for member in members { member.forgetOwner() }
        isAskingSchemas = false
        isAttached = false
        attachments += 1
        (refusal, reportedMissing, hasLeftOutMissing) = (nil, [], false)
        events.forgetOwner()
        inlets.ring.forget(isNewOwner: true)
        choose(session) { $0.ended() }
    }
    /// The owner is to be asked again for what it has not answered, by these members.
    func askOwner(_ session: SessionController, for isAsking: (StreamSubscriber) -> Bool) {
        for member in members where isAsking(member) {
            run(member.machine.unanswered(), member, session)
            if member.search != nil { seek(member, session) }
        }
    }
    /// The relay has ended.
    func end(_ session: SessionController) {
        for member in members { member.feed?.finish() }
        inlets.ring.forget(isNewOwner: false)
        choose(session) { $0.ended() }
    }
    /// The bus knows no rule of this relay.
    func connected(_ session: SessionController) {
        (rules, refusedRules) = ([:], [])
        updateRules(session)
    }
    private func updateRules(_ session: SessionController) {
        guard session.isConnected else { return }
        let wanted = inlets.rules(for: NameScope(names: names), address)
        // The new ones first: between the two the bus must not drop anything.
        for rule in wanted where rules[rule] == nil { add(rule, session) }
        for rule in rules.keys where !wanted.contains(rule) {
            rules[rule] = nil
            session.removeMatch(rule)
        }
    }
    private func add(_ rule: MatchRule, _ session: SessionController) {
        ruleRequests += 1
        let request = ruleRequests
        rules[rule] = request
        session.addMatch(rule, "pass on \(interface)") { [self] session, isTaken in
            guard rules[rule] == request else { return }
            if isTaken {
                guard refusedRules.remove(rule) != nil else { return }
                // What was published meanwhile did not come, and nothing else need show that.
                return askWhereItStands(session)
            }
            // The bus does not have it: nothing is to be removed.
            rules[rule] = nil
            refusedRules.insert(rule)
            session.schedule(after: session.timing.retry) { [self] in updateRules($0) }
        }
    }

    // MARK: How the events come

    private func choose(
        _ session: SessionController, _ decide: (inout TransportChoice) -> [TransportChoice.Action]
    ) {
        let actions = inlets.choose(decide)
        usesRing.store(inlets.choice.phase == .direct, ordering: .relaxed)
        for member in members { member.machine.reportsLoss = inlets.reportsLoss }
        for action in actions {
            switch action {
            case .open: inlets.ring.open(self, session)
            case .close: inlets.ring.close(self, session)
            case .updateRules: updateRules(session)
            case .attach: for member in members { sendAttach(member, session) }
            case .attachAll:
                // A member that reads learns of the head by its page.
                for member in members where !member.machine.isReading {
                    run(member.machine.unanswered(), member, session)
                }
            case .reattachAll: askWhereItStands(session)
            }
        }
        if actions.contains(.attach) { session.calls.admitWaiting(session) }
    }
    /// Something may not have been sent to this relay.
    private func askWhereItStands(_ session: SessionController) {
        for member in members { run(member.machine.reattach(), member, session) }
    }
    /// A member wants to attach: that waits until it is known how the events come.
    func attachWanted(_ session: SessionController) { choose(session) { $0.attachWanted() } }
    /// Nobody wants anything of it any more.
    private func endTransportIfUnused(_ session: SessionController) {
        if isWanted { return }
        inlets.ring.forget(isNewOwner: false)
        for member in members { member.waitingAttach = nil }
        choose(session) { $0.ended() }
        detach(session)
        session.calls.admitWaiting(session)
    }
    func noteAttaching() {
        isAttached = true
        attachments += 1
    }
    /// The number of the last `Attach`, which counts no longer; nil: there was none.
    func takeAttachment() -> Int? {
        defer { isAttached = false }
        return isAttached ? attachments : nil
    }
    func isLast(_ attachment: Int) -> Bool { attachments == attachment }

    // MARK: What the ring's inlet calls

    /// It is open: its events come, and signals of events no longer count.
    func inletOpened(_ session: SessionController) { choose(session) { $0.opened() } }
    /// The owner has none for this relay now.
    func inletRefused(_ session: SessionController) { choose(session) { $0.refused() } }
    /// The owner gave it; it cannot be read here, and was given back.
    func inletUnreadable(_ session: SessionController) { choose(session) { $0.unreadable() } }
    /// The owner learnt late that it is not read.
    func inletReturned(_ session: SessionController) { askWhereItStands(session) }
    /// The owner did not answer in time.
    func inletUnanswered(_ session: SessionController) { choose(session) { $0.unanswered() } }
    /// It holds what it cannot hold: nothing more of it counts.
    func inletFaulted(_ session: SessionController) {
        session.noteFault()
        counts.faults.increment()
        choose(session) { $0.faulted() }
    }
    /// The owner has ended this relay's attachment, or the inlet: both are asked for again. What the inlet has comes
    /// before that.
    func reattach(_ session: SessionController) {
        if !inlets.takesSignals { drain(session) }
        choose(session) { $0.withdrawn() }
    }
    /// A while has passed since a refusal that may not be the last word.
    func retryInlet(_ session: SessionController) { choose(session) { $0.retry() } }
    /// It has news: what is there comes now, unless an answer is due.
    func drainInlet(most limit: Int = .max, _ session: SessionController) {
        inlets.ring.drainOrPark(most: limit, self, session)
    }
    /// Something else of the owner follows: what the ring has comes before it, whatever is due.
    func drain(through last: UInt64 = .max, _ session: SessionController) {
        inlets.ring.drain(through: last, self, session)
    }
    /// From where events of a run are wanted: behind this sequence. Nil: those that are published from now on.
    func place(inRun epoch: UInt64) -> UInt64? {
        members.compactMap { $0.machine.place(inRun: epoch) }.min()
    }
    /// The event of a name.
    func event(named name: UnsafeRawBufferPointer, _ session: SessionController) -> StreamEvent {
        events.event(named: name, for: members)
    }
    /// The event of a name that the owner has listed; nil when there are too many.
    func listedEvent(_ name: String, _ session: SessionController) -> StreamEvent? {
        events.listed(name, for: members)
    }
}
