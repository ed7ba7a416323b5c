/// One interface of a followed service: who follows it, and what was asked of the bus for them.
final class FollowedStream: @unchecked Sendable {  // In a turn of the loop only.
    /// One event of the interface, as it was seen on the bus, in the journal or in a ring's list.
    final class Event: @unchecked Sendable {  // In a turn of the loop only.
        fileprivate static let (unwantedIndex, excessIndex) = (-1, -2)
        /// Below 0: it is in no table.
        let index: Int
        let name: String
        fileprivate let utf8: [UInt8]
        /// The sink's number for it.
        let token: Int
        /// By the publisher's subscriptions.
        @exclusivity(unchecked) fileprivate(set) var isWanted: Bool
        /// Of its signals.
        fileprivate(set) var schema: UInt32?

        /// It is one of too many.
        var isExcess: Bool { index == Self.excessIndex }

        fileprivate init(_ index: Int, _ name: String, token: Int, isWanted: Bool, schema: UInt32?) {
            (self.index, self.name, utf8, self.token) = (index, name, Array(name.utf8), token)
            (self.isWanted, self.schema) = (isWanted, schema)
        }
    }
    let interface: String
    let path: String
    /// For the publisher's subscriptions; its names are theirs.
    let shared: StreamSubscriber
    /// The shared one, and one for each positioned subscription.
    @exclusivity(unchecked) private(set) var members: [StreamSubscriber]
    /// There are more than the shared one.
    @exclusivity(unchecked) private(set) var hasOthers = false
    /// Of the present owner. Few: looked through by comparing bytes, which is faster than making a `String` and hashing it.
    private var events: [Event] = []
    /// All names that are wanted by name are among them.
    private var hasWanted = false
    /// Stands for every event that nobody wants.
    private let unwanted = Event(Event.unwantedIndex, "", token: -1, isWanted: false, schema: nil)
    /// Stands for every event past the limit.
    private let excess = Event(Event.excessIndex, "", token: -1, isWanted: false, schema: nil)
    /// A service that sends ever new names does not make this grow without end. A sound one has no more than half of that; what it
    /// lacks may be wanted besides.
    private static let eventLimit = 2 * ContractLimits.events
    var rules: [MatchRule] = []
    /// Of the present owner: the fields that its events have, once it has told.
    private(set) var schemas: StreamSchemas?
    /// What the last owner told, which is mostly the same: what was made of it can be used again.
    private var lastSchemas: StreamSchemas?
    var isAskingSchemas = false
    /// Of the present owner: why it cannot be followed.
    var refusal: Gap?
    /// Of the present owner: the events that it lacks, as far as the publisher's subscribers were told.
    var toldMissing: Set<String> = []
    /// Of the present owner: it was asked again without what it lacks.
    var hasLeftOutMissing = false
    /// How the events come.
    var transport = TransportChoice() {
        didSet { for member in members { member.machine.isByRing = !transport.takesSignals } }
    }
    @exclusivity(unchecked) var ring: FollowedRing? { didSet { uncountedRing = ring.map { .passUnretained($0) } } }
    /// The same, not counted, since it is looked up for every event: whoever takes the ring away keeps it to the end of the turn.
    @exclusivity(unchecked) private(set) var uncountedRing: Unmanaged<FollowedRing>?
    /// Counts the requests of `OpenRing`: only the latest answer counts.
    var ringGeneration = 0
    /// A ring that waits until the owner's wait page is mapped and sealed.
    var awaitedRing: RingArea?
    /// The owner takes it that the ring is read, which is not the case yet.
    var isGoingOver: Bool { openedRing != nil || awaitedRing != nil }
    /// How long after a refusal of `OpenRing` it is asked for again.
    var ringBackoff = Backoff(from: 1, to: 60)
    /// A ring that waits for the schemas, without which nobody can read it.
    var openedRing: RingArea?

    init(_ interface: String, isDurable: Bool) {
        (self.interface, path) = (interface, Stream1.path(of: interface))
        shared = StreamSubscriber(isDurable: isDurable)
        members = [shared]
    }

    /// Another owner, or none: answers of this one no longer count.
    func forgetOwner() {
        for member in members { member.forgetOwner() }
        (schemas, isAskingSchemas) = (nil, false)
        (refusal, toldMissing, hasLeftOutMissing) = (nil, [], false)
        (events, hasWanted) = ([], false)
        ringGeneration += 1
        (openedRing, awaitedRing) = (nil, nil)
        ringBackoff.reset()
    }
    func adopt(_ told: [UInt32: EventSchema]) -> StreamSchemas {
        let adopted = lastSchemas.flatMap { $0.byNumber == told ? $0 : nil } ?? StreamSchemas(told)
        (schemas, lastSchemas, isAskingSchemas) = (adopted, adopted, false)
        for event in events { event.schema = adopted.present(of: event.name) }
        return adopted
    }

    // MARK: Members

    func add(_ member: StreamSubscriber) {
        member.machine.isByRing = !transport.takesSignals
        members.append(member)
        (hasOthers, hasWanted) = (true, false)
    }
    func remove(_ member: StreamSubscriber) {
        members.removeAll { $0 === member }
        hasOthers = members.count > 1
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
    func setSharedNames(_ names: Set<String>?) {
        shared.names = names
        hasWanted = false
        for event in events { event.isWanted = shared.wants(event.name) }
    }
    /// What somebody wants and the owner does not have.
    func missing(_ member: StreamSubscriber) -> [String] {
        guard let known = schemas?.names, let names = member.names else { return [] }
        return names.subtracting(known).sorted()
    }
    var isMissingSomething: Bool { members.contains { !missing($0).isEmpty } }
    /// The names to attach with: the same for all members, as a service keeps one set for each peer.
    var attachedNames: [String] { asked(names) }
    /// The names to ask for. A service refuses a name that it does not have.
    func asked(_ names: Set<String>?) -> [String] {
        guard let names else { return [Stream1.allNames] }
        let present = schemas.map { names.intersection($0.names) } ?? names
        return present.isEmpty && !names.isEmpty ? [Stream1.allNames] : present.sorted()
    }
    /// Whether there is something that later subscribers have to be told, too.
    var hasLasting: Bool { names?.isEmpty != true && (refusal != nil || !toldMissing.isEmpty) }

    /// What to ask the bus for: the events, and what `Stream1` says of them. Of a ring's stream only its run's last word: `Head`, which
    /// comes ten times a second while signals are paused, tells nothing there that the ring does not.
    func wantedRules(of service: String) -> [MatchRule] {
        let member: String?
        switch NameScope(names: names) {
        case .nothing: return []
        case .one(let name): member = name
        case .all: member = nil
        }
        if !transport.takesSignals {
            return [MatchRule(sender: service, path: path, interface: Stream1.name, member: "End")]
        }
        let words = MatchRule(sender: service, path: path, interface: Stream1.name)
        let events = MatchRule(sender: service, path: path, interface: interface, member: member)
        return [words, events]
    }

    // MARK: Events

    /// The event that a message is.
    func event(of message: borrowing ReceivedMessage, _ sink: any SessionSink) -> Event {
        addWanted(sink)
        for event in events where message.hasMember(event.name) { return event }
        guard isEverythingWanted else { return unwanted }
        return message.member.flatMap { add($0, sink) } ?? excess
    }
    /// The event of a name.
    func event(named name: UnsafeRawBufferPointer, _ sink: any SessionSink) -> Event {
        addWanted(sink)
        for event in events where PageReader.isEqual(name, event.utf8) { return event }
        guard isEverythingWanted else { return unwanted }
        return add(String(decoding: name, as: UTF8.self), sink) ?? excess
    }
    private var isEverythingWanted: Bool { members.contains { $0.names == nil } }
    /// So that what somebody wants by name has its place, whatever else comes.
    private func addWanted(_ sink: any SessionSink) {
        if hasWanted { return }
        hasWanted = true
        let wanted = members.reduce(into: Set<String>()) { $0.formUnion($1.names ?? []) }
        for name in wanted.sorted() where !events.contains(where: { $0.name == name }) { append(name, sink) }
    }
    private func add(_ name: String, _ sink: any SessionSink) -> Event? {
        events.count < Self.eventLimit ? append(name, sink) : nil
    }
    @discardableResult private func append(_ name: String, _ sink: any SessionSink) -> Event {
        let event = Event(
            events.count, name, token: sink.token(for: name, of: interface), isWanted: shared.wants(name),
            schema: schemas?.present(of: name))
        events.append(event)
        return event
    }
    /// The events of a ring's list; nil when there are too many of them. Throws for one that nobody could read.
    func kinds(
        _ list: [RingEvent], _ schemas: StreamSchemas, _ sink: any SessionSink
    ) throws(RelayError) -> [(event: Event, shape: RingPayloadFormat)]? {
        var kinds: [(Event, RingPayloadFormat)] = []
        for entry in list {
            guard let event = events.first(where: { $0.name == entry.name }) ?? add(entry.name, sink) else {
                return nil
            }
            kinds.append((event, try RingPayloadFormat(entry, schemas)))
        }
        return kinds
    }
    /// A member waits for an answer that tells where it stands: what comes meanwhile stays in the ring.
    @inline(__always) var awaitsAnswer: Bool {
        shared.machine.awaitsAnswer || hasOthers && members.contains { $0.machine.awaitsAnswer }
    }
}
