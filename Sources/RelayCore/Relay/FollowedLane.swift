/// One interface of a followed service: its machine, and what it has asked the bus for.
final class FollowedLane: @unchecked Sendable {  // On the loop's thread only.
    struct HeldEvent {
        let signature: String
        let body: [UInt8]
        let stamp: Stamp
        let event: Event
    }
    /// One event of the interface, as it was seen on the bus or asked for.
    struct Event {
        let name: String
        let token: Int
        var isWanted: Bool
    }
    let interface: String
    let path: String
    var machine = LaneMachine<HeldEvent>()
    /// What is wanted of it; nil stands for every event.
    var names: Set<String>? = [] {
        didSet { for index in events.indices { events[index].isWanted = includes(events[index].name) } }
    }
    /// Few: looked through by comparing C strings, which is faster than making a `String` and hashing it.
    private var events: [Event] = []
    /// A service that sends ever new names does not make this grow without end.
    private static let eventLimit = 1_024
    var rules: [MatchRule] = []
    /// Counts the requests of `Attach`: only the latest answer counts.
    var generation = 0
    /// Of the present owner: the events that it has, once it has told.
    var known: Set<String>?
    /// Of the present owner: why it cannot be followed.
    var refusal: Gap?
    /// Of the present owner: the events that it lacks, as far as subscribers were told.
    var toldMissing: Set<String> = []
    /// Of the present owner: it was asked again without what it lacks.
    var hasLeftOutMissing = false
    var hasTick = false

    /// Another owner, or none: answers of this one no longer count.
    func forgetOwner() {
        generation += 1
        (known, refusal, toldMissing, hasLeftOutMissing) = (nil, nil, [], false)
    }
    /// What is wanted and the owner does not have.
    var missing: [String] {
        guard let known, let names else { return [] }
        return names.filter { !known.contains($0) }.sorted()
    }
    /// The names to attach with. A service refuses a name that it does not have.
    var attachedNames: [String] {
        guard let names else { return [Stream1.allNames] }
        let present = names.filter { known?.contains($0) ?? true }
        return present.isEmpty && !names.isEmpty ? [Stream1.allNames] : Array(present)
    }
    /// Whether there is something that later subscribers have to be told, too.
    var hasLasting: Bool { names?.isEmpty != true && (refusal != nil || !toldMissing.isEmpty) }

    init(_ interface: String) { (self.interface, path) = (interface, Stream1.path(of: interface)) }

    /// What to ask the bus for: the events, and what `Stream1` says of them.
    func wantedRules(of service: String) -> [MatchRule] {
        let member: String?
        switch LaneScope(names: names) {
        case .nothing: return []
        case .one(let name): member = name
        case .all: member = nil
        }
        return [
            MatchRule(sender: service, path: path, interface: Stream1.name),
            MatchRule(sender: service, path: path, interface: interface, member: member),
        ]
    }
    private func includes(_ name: String) -> Bool { names?.contains(name) ?? true }

    /// The event that a message is; nil when there are too many of them.
    func event(of message: borrowing ReceivedMessage, _ sink: any FollowerSink) -> Event? {
        for event in events where message.hasMember(event.name) { return event }
        guard let name = message.member, events.count < Self.eventLimit else { return nil }
        let event = Event(name: name, token: sink.token(for: name, of: interface), isWanted: includes(name))
        events.append(event)
        return event
    }
}
