import Synchronization

/// Turns what the follower delivers into typed events of the relay's publisher.
final class RelayReceivers: SessionSink {
    private struct States {
        var current = EventRelay.State.connecting
        /// Of those of which something is known.
        var interfaces: [String: EventRelay.InterfaceState] = [:]
        var listeners: [UInt64: AsyncStream<EventRelay.State>.Continuation] = [:]
        var lastID: UInt64 = 0
        var isFinished = false
    }
    /// The publisher's observer holds the follower weakly, so that this makes no cycle.
    private let publisher: EventPublisher
    private let receivers: [String: [String: AnyReceiver]]
    private let interfaces: [String: any EventInterface.Type]
    /// Kept by `receivers`: not counted, since it is looked up for every event.
    private let byToken: ContiguousArray<Unmanaged<AnyReceiver>>
    private let tokens: [String: [String: Int]]
    private let current = Mutex(States())
    private let notices: NoticeReporter
    /// Nothing more is delivered. Asked for each event in a turn, set on any thread.
    private let over = Atomic<Bool>(false)
    private var isOver: Bool { over.load(ordering: .acquiring) }

    init(
        _ publisher: EventPublisher, _ receivers: [String: [String: AnyReceiver]],
        _ interfaces: [String: any EventInterface.Type], _ notices: NoticeReporter
    ) {
        (self.publisher, self.receivers, self.interfaces) = (publisher, receivers, interfaces)
        self.notices = notices
        var byToken: ContiguousArray<Unmanaged<AnyReceiver>> = []
        tokens = receivers.mapValues { events in
            events.mapValues { receiver in
                byToken.append(.passUnretained(receiver))
                return byToken.count - 1
            }
        }
        self.byToken = byToken
    }

    func schemas(_ schemas: StreamSchemas, of interface: String) {
        for receiver in (receivers[interface] ?? [:]).values { receiver.adopt(schemas) }
        change(interface, .available)
    }
    func token(for name: String, of interface: String) -> Int { tokens[interface]?[name] ?? -1 }
    func event(_ token: Int, _ raw: RawEvent) {
        // -1: an event that the contract does not have.
        if token >= 0, !isOver { byToken[token]._withUnsafeGuaranteedRef { $0.take(raw, publisher) } }
    }
    func gap(_ gap: Gap, in interface: String, of name: String?) {
        if isOver { return }
        if let name {
            receivers[interface]?[name]?.gap(gap, publisher)
        } else if let interface = interfaces[interface] {
            publisher.deliver(gap, in: interface)
        }
    }
    func lasting(_ gap: Gap, in interface: String, of name: String?, isNew: Bool) {
        if isOver { return }
        if let name {
            receivers[interface]?[name]?.lasting(gap, isNew: isNew, publisher)
        } else if let type = interfaces[interface] {
            if isNew {
                let reason = gap.detail ?? ""
                change(interface, .missing(reason))
                notices.report(
                    .interfaceMissing, .warning, "the service lacks \(interface): \(reason)",
                    of: .init(interface: interface))
            }
            publisher.deliver(lasting: gap, isNew: isNew, in: type)
        }
    }
    /// Reports an interface's state, if it is another one.
    private func change(_ interface: String, _ state: EventRelay.InterfaceState) {
        let isNews = current.withLock { current -> Bool in
            if current.isFinished { return false }
            return current.interfaces.updateValue(state, forKey: interface) ?? .unknown != state
        }
        if isNews, !isOver {
            publisher.deliver(EventRelay.InterfaceChange(interface: interface, state: state), stamp: nil)
        }
    }
    func state(of interface: String) -> EventRelay.InterfaceState {
        current.withLock { $0.interfaces[interface] ?? .unknown }
    }
    func ownerGone() {
        for interface in current.withLock({ $0.interfaces.keys.sorted() }) { change(interface, .unknown) }
    }
    func state(_ state: EventRelay.State) {
        if isOver { return }
        if case .invalidated = state { ownerGone() }
        current.withLock { current in
            current.current = state
            for listener in current.listeners.values { listener.yield(state) }
        }
        publisher.deliver(state, stamp: nil)
        if case .invalidated = state { finish() }
    }

    func connectionFailed(_ error: RelayError) {
        if isOver { return }
        notices.report(
            .connectionFailed, .warning, "\(error.message)", of: .init(code: error.code), cause: error)
        publisher.deliver(EventRelay.ConnectionFailure(error: error), stamp: nil)
    }

    func unreadable(of interface: String) -> Int {
        (receivers[interface] ?? [:]).values.reduce(0) { $0 + $1.drops.unreadable }
    }
    var overflowed: Int { publisher.overflowed }

    /// Every subscriber has had what was delivered.
    var isIdle: Bool { publisher.isIdle }

    func states() -> AsyncStream<EventRelay.State> {
        let (stream, listener) = AsyncStream.makeStream(
            of: EventRelay.State.self, bufferingPolicy: .bufferingNewest(64))
        current.withLock { current in
            listener.yield(current.current)
            if current.isFinished { return listener.finish() }
            current.lastID += 1
            let id = current.lastID
            current.listeners[id] = listener
            listener.onTermination = { [weak self] _ in
                self?.current.withLock { _ = $0.listeners.removeValue(forKey: id) }
            }
        }
        return stream
    }
    /// Lets nothing more through, and ends the streams of states.
    func finish() {
        over.store(true, ordering: .releasing)
        let listeners = current.withLock { current in
            current.isFinished = true
            // Nothing more is heard of them.
            current.interfaces = [:]
            defer { current.listeners = [:] }
            return current.listeners
        }
        for listener in listeners.values { listener.finish() }
    }
}
