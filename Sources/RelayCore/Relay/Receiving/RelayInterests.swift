import Synchronization
import RelayWire

/// Turns subscriptions to event types into what the follower asks the bus for.
final class RelayInterests: InterestObserver {
    struct Place: Hashable, Sendable {
        let interface: String
        let event: String
    }
    private struct State {
        var names: [String: Set<String>] = [:]
        weak var follower: ServiceFollower?
        /// Types that nobody brings, and types of objects that were released: each is reported once.
        var reported: Set<ObjectIdentifier> = []
    }
    /// Where the types of the relay's contracts belong; all others stay in the process.
    private let places: [ObjectIdentifier: Place]
    private let interfaces: [String: any EventInterface.Type]
    private let state = Mutex(State())

    private let notices: NoticeReporter

    init(_ contract: RelayContract, _ notices: NoticeReporter) {
        (places, interfaces, self.notices) = (contract.interests, contract.interfaces, notices)
    }

    func start(_ follower: ServiceFollower) {
        state.withLock { state in
            state.follower = follower
            for (interface, names) in state.names { follower.follow(interface: interface, names: names) }
        }
    }
    /// Nothing brings a domain event that is of none of the relay's contracts. Any other event is the process's own.
    func objection<E: Event>(to type: E.Type) -> Gap? {
        guard places[ObjectIdentifier(type)] == nil, let type = type as? any StreamEntry.Type else { return nil }
        func text<D: StreamEntry>(_ type: D.Type) -> String { interfaces.unlisted(D.Interface.self, D.name) }
        let text = text(type)
        if isFirst(ObjectIdentifier(type)) { notices.report(.notFollowed, .error, text) }
        return Gap(1...UInt64.max, epoch: 0, count: nil, reason: .notFollowed, detail: text)
    }
    func subscriberReleased(_ object: WeakReference) {
        if !isFirst(ObjectIdentifier(object.type)) { return }
        notices.report(
            .subscriberReleased, .warning,
            "\(object.type) was released while it was subscribed: if that was not meant, keep it; if it was, call "
                + "unsubscribe before")
    }
    private func isFirst(_ id: ObjectIdentifier) -> Bool { state.withLock { $0.reported.insert(id).inserted } }
    func interestBegan<E: Event>(in type: E.Type) { change(type) { $0.insert($1) } }
    func interestEnded<E: Event>(in type: E.Type) { change(type) { $0.remove($1) } }

    private func change<E: Event>(_ type: E.Type, _ body: (inout Set<String>, String) -> Void) {
        guard let place = places[ObjectIdentifier(type)] else { return }
        // Under the lock, so that the follower hears of changes in their order; it only notes them for its thread.
        state.withLock { state in
            body(&state.names[place.interface, default: []], place.event)
            state.follower?.follow(interface: place.interface, names: state.names[place.interface])
        }
    }
}

/// The interfaces that a relay follows, by name.
extension [String: any EventInterface.Type] {
    func includes<I: EventInterface>(_ interface: I.Type) -> Bool {
        self[I.name].map { ObjectIdentifier($0) == ObjectIdentifier(interface) } ?? false
    }
    /// For what is of an interface that is not among them, or is not in the contract of one that is.
    func unlisted<I: EventInterface>(_ interface: I.Type, _ what: String) -> String {
        includes(interface)
            ? "\(what) is not in the contract of \(I.name): list it there"
            : "\(what) is of \(I.name), which this relay was not made for: name it in interfaces"
    }
}

/// What a relay makes of its interfaces' contracts, while their types are concrete.
struct RelayContract {
    private(set) var interfaces: [String: any EventInterface.Type] = [:]
    private(set) var interests: [ObjectIdentifier: RelayInterests.Place] = [:]
    private(set) var receivers: [String: [String: AnyReceiver]] = [:]
    private(set) var durable: Set<String> = []
    private(set) var commands: [ObjectIdentifier: any RelayCommandCodec] = [:]

    mutating func add<I: EventInterface>(_ interface: I.Type) throws {
        try BusNames.check(I.name, as: .interface)
        if interfaces.updateValue(interface, forKey: I.name) != nil {
            throw RelayError(.invalidArgument, "the interface \(I.name) is given twice")
        }
        try I.contract.checkNames()
        if I.Durability.self == Durable.self { durable.insert(I.name) }
        for type in I.contract.events { try add(event: type) }
        for type in I.contract.commands { try add(command: type) }
        for type in I.contract.documents { try add(document: type) }
    }
    private mutating func add<E: StreamEntry>(event type: E.Type) throws {
        interests[ObjectIdentifier(type)] = RelayInterests.Place(interface: E.Interface.name, event: E.name)
        receivers[E.Interface.name, default: [:]][E.name] = try EventReceiver(type)
    }
    private mutating func add<D: DomainDocument>(document type: D.Type) throws {
        if let editable = type as? any EditableDocument.Type { try add(editable: editable) }
    }
    private mutating func add<D: EditableDocument>(editable type: D.Type) throws {
        try add(command: SubmitDocument<D>.self)
    }
    private mutating func add<C: Command>(command type: C.Type) throws {
        commands[ObjectIdentifier(type)] = try TypedCommandCodec(type)
    }
}
