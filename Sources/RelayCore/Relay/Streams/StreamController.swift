import Synchronization

/// One followed interface: its members, what is known of its events, and how they come. Asks the owner, and hands what
/// comes to the machine of each member.
///
/// - Isolation: in a turn of the loop. It is had from `FollowedStreams`, which traps outside of one.
final class StreamController: @unchecked Sendable {  // In a turn of the loop only.
    let owner: ServiceOwner
    let pages: PageBroker
    let sink: any SessionSink
    weak let observer: (any StreamObserver)?
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
    /// Why the owner's last answer to `OpenRing` brought no ring; nil: it did, or there is none to be had. Read on any
    /// thread.
    let ringRefusal = Mutex<String?>(nil)
    /// Keeps what it has parsed of the signatures in pages.
    var pageReader = PageReader()
    private let rules: StreamRules
    /// Counts the requests of `Attach`, of all members, and the owners.
    var attachments = 0
    /// What is known of the present owner.
    struct Present {
        var isAskingSchemas = false
        /// It was asked for events, and sends them, or stays for them.
        var isAttached = false
        /// Why it cannot be followed.
        var refusal: Gap?
        /// The events that it lacks, as far as the publisher's subscribers know.
        var reportedMissing: Set<String> = []
        /// It was asked again without what it lacks.
        var hasLeftOutMissing = false
    }
    let present: LoopBound<Present>

    init(
        _ address: StreamAddress, isDurable: Bool, _ owner: ServiceOwner, _ rings: RingTransport, _ pages: PageBroker,
        _ sink: any SessionSink, _ observer: any StreamObserver
    ) {
        (self.address, self.owner, self.pages, self.sink) = (address, owner, pages, sink)
        (self.observer, present) = (observer, LoopBound(Present(), on: owner.loop))
        rules = StreamRules(owner)
        shared = StreamSubscriber(isDurable: isDurable)
        members = [shared]
        events = StreamEvents(address.interface, sink)
        inlets = StreamInlets(rings)
        shared.stream = self
        begin(shared)
    }
    var interface: String { address.interface }
    var path: String { address.path }
    /// The fields that the present owner's events have, once it has reported them.
    var schemas: StreamSchemas? { events.schemas }

    // MARK: Members

    func add(_ member: StreamSubscriber) {
        members.append(member)
        member.stream = self
        hasOthers = true
        events.wantsChanged()
        rules.update(self)
        begin(member)
        run(member.machine.want(member.names), member)
        if member.search != nil { seek(member) }
        reportLacking()
    }
    func remove(_ member: StreamSubscriber) {
        members.removeAll { $0 === member }
        member.stream = nil
        hasOthers = members.count > 1
        pages.withdraw(member)
        rules.update(self)
        endTransportIfUnused()
        pages.readNext()
    }
    /// What the publisher's subscriptions want.
    func want(_ names: Set<String>?) {
        shared.names = names
        events.wantsChanged(of: shared)
        rules.update(self)
        run(shared.machine.want(names), shared)
        endTransportIfUnused()
        reportLacking()
    }
    /// A new machine learns what is known of the owner, and how its events come.
    func begin(_ member: StreamSubscriber) {
        member.machine.reportsLoss = inlets.reportsLoss
        owner.introduce(to: &member.machine)
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
        present.onLoop.refusal != nil
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
    func forgetOwner(_ leave: (inout StreamSubscriber.Machine) -> StreamSubscriber.Machine.Action) {
        for member in members { run(leave(&member.machine), member) }
        for member in members { member.forgetOwner() }
        attachments += 1
        present.onLoop = Present()
        events.forgetOwner()
        inlets.ring.forget(self, isNewOwner: true)
        choose { $0.ended() }
    }
    /// The owner is to be asked again for what it has not answered, by these members.
    func askOwner(for isAsking: (StreamSubscriber) -> Bool) {
        for member in members where isAsking(member) {
            run(member.machine.unanswered(), member)
            if member.search != nil { seek(member) }
        }
    }
    /// The relay has ended.
    func end() {
        for member in members { member.feed?.finish() }
        inlets.ring.forget(self, isNewOwner: false)
        choose { $0.ended() }
    }
    /// The bus knows no rule of this relay.
    func connected() {
        rules.forget()
        rules.update(self)
    }

    // MARK: How the events come

    /// Something has happened to the inlet: does what is decided about that.
    func choose(_ decide: (inout TransportChoice) -> [TransportChoice.Action]) {
        let actions = decide(&inlets.choice)
        usesRing.store(inlets.choice.phase == .direct, ordering: .relaxed)
        for member in members { member.machine.reportsLoss = inlets.reportsLoss }
        for action in actions {
            switch action {
            case .open: inlets.ring.open(self)
            case .close: inlets.ring.close(self)
            case .updateRules: rules.update(self)
            case .attach: for member in members { sendAttach(member) }
            case .attachAll:
                // A member that reads learns of the head by its page.
                for member in members where !member.machine.isReading {
                    run(member.machine.unanswered(), member)
                }
            case .reattachAll: askWhereItStands()
            }
        }
        if actions.contains(.attach) { observer?.streamOpened() }
    }
    /// Something may not have been sent to this relay.
    func askWhereItStands() {
        for member in members { run(member.machine.reattach(), member) }
    }
    /// Nobody wants anything of it any more.
    private func endTransportIfUnused() {
        if isWanted { return }
        inlets.ring.forget(self, isNewOwner: false)
        for member in members { member.waitingAttach = nil }
        choose { $0.ended() }
        detach()
        observer?.streamOpened()
    }

    // MARK: What the ring's inlet calls

    /// It holds what it cannot hold: nothing more of it counts.
    func inletFaulted() {
        counts.faults.increment()
        choose { $0.faulted() }
    }
    /// The owner has ended this relay's attachment, or the inlet: both are asked for again. What the inlet has comes
    /// before that.
    func reattach() {
        if !inlets.takesSignals { drain() }
        choose { $0.withdrawn() }
    }
    /// It has news: what is there comes now, unless an answer is due.
    func drainInlet() { inlets.ring.drainOrPark(most: .max, self) }
    /// Something else of the owner follows: what the ring has comes before it, whatever is due.
    func drain(through last: UInt64 = .max) { inlets.ring.drain(through: last, self) }
    /// From where events of a run are wanted: behind this sequence. Nil: those that are published from now on.
    func place(inRun epoch: UInt64) -> UInt64? {
        members.compactMap { $0.machine.place(inRun: epoch) }.min()
    }
}
