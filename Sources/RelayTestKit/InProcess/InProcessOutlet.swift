import RelayCore
import Synchronization

/// Where the streams of the connections of a test are: what an outlet offers, an inlet finds here.
final class InProcessStreams: Sendable {
    private struct Place: Hashable {
        let owner: String
        let interface: String
    }
    private struct State {
        var outlets: [Place: InProcessOutlet] = [:]
        /// How many events are to be lost on the way, by interface.
        var losses: [String: Int] = [:]
    }
    private let state = Mutex(State())

    func offer(_ outlet: InProcessOutlet, of interface: String, by owner: String) {
        state.withLock { $0.outlets[Place(owner: owner, interface: interface)] = outlet }
    }
    func withdraw(_ interface: String, of owner: String) {
        let outlet = state.withLock { $0.outlets.removeValue(forKey: Place(owner: owner, interface: interface)) }
        withExtendedLifetime(outlet) {}
    }
    func outlet(of interface: String, by owner: String) -> InProcessOutlet? {
        state.withLock { $0.outlets[Place(owner: owner, interface: interface)] }
    }

    /// The next events of an interface are lost on their way to every relay.
    func lose(_ count: Int, of interface: String) { state.withLock { $0.losses[interface] = count } }
    /// Whether this one is; counts it.
    func loses(_ interface: String) -> Bool {
        state.withLock { state in
            guard let left = state.losses[interface], left > 0 else { return false }
            state.losses[interface] = left - 1
            return true
        }
    }
}

/// The way out of a stream into the memory of its own process.
///
/// Invariant: an event is in every reader's queue, and the reader's loop has been notified, when `emit` returns: under
/// the stream's lock, and so before anything that is sent after the event.
final class InProcessOutlet: PayloadOutlet {
    /// No reader sleeps: each is notified of its events at once.
    struct NoWake: OutletWake { func wake() {} }
    private struct State {
        var readers: [(peer: String, queue: InProcessQueue)] = []
        /// The service has let them in: nobody else gets an event.
        var attached: Set<String> = []
        /// The service's connection.
        var owner: String?
    }
    private let interface: String
    let epoch: UInt64
    /// What the payloads are, in the order of the events' numbers.
    let events: [RingEvent]
    private let streams: InProcessStreams
    private let state = Mutex(State())

    init(_ interface: String, epoch: UInt64, _ events: [RingEvent], _ streams: InProcessStreams) {
        (self.interface, self.epoch, self.events, self.streams) = (interface, epoch, events, streams)
    }

    func connect(_ connection: BusConnection) {
        let owner = connection.uniqueName
        state.withLock { $0.owner = owner }
        streams.offer(self, of: interface, by: owner)
    }
    func emit(_ event: PlacedEvent, _ payload: UnsafeRawBufferPointer) -> NoWake {
        let readers = state.withLock { state in
            state.readers.filter { state.attached.contains($0.peer) }.map(\.queue)
        }
        if readers.isEmpty { return NoWake() }
        if streams.loses(interface) {
            for reader in readers { reader.noteLoss() }
            return NoWake()
        }
        let event = InProcessQueue.Event(place: event, payload: Array(payload))
        for reader in readers { reader.push(event) }
        return NoWake()
    }
    func end(isKnown: Bool, in stream: PublishedStream, at place: borrowing StreamPlace) -> Bool {
        let owner = state.withLock { state in
            defer { (state.owner, state.readers, state.attached) = (nil, [], []) }
            return state.owner
        }
        if let owner { streams.withdraw(interface, of: owner) }
        // The last word is the signals'.
        return false
    }
    var status: [(name: String, value: DBusValue)] { [("InProcess", .boolean(true))] }

    // MARK: Readers

    /// It gets its first event behind its `Attach`, which the service may refuse.
    func add(_ queue: InProcessQueue, of peer: String) { state.withLock { $0.readers.append((peer, queue)) } }
    func remove(_ queue: InProcessQueue) { state.withLock { $0.readers.removeAll { $0.queue === queue } } }
    func attach(_ peer: String, names: [String]) {
        state.withLock { state in
            if names.isEmpty { state.attached.remove(peer) } else { state.attached.insert(peer) }
        }
    }
    func depart(_ peer: String) {
        state.withLock { state in
            state.readers.removeAll { $0.peer == peer }
            state.attached.remove(peer)
        }
    }
    func progress(of peer: String) -> OutletProgress? {
        let queue = state.withLock { state in state.readers.first { $0.peer == peer }?.queue }
        return queue.map { queue in OutletProgress("memory") { queue.given } }
    }
}

/// The events on their way from one outlet to one inlet.
final class InProcessQueue: Sendable {
    struct Event: Sendable {
        let place: PlacedEvent
        let payload: [UInt8]
    }
    private struct State {
        var events: [Event] = []
        /// What comes next of `events`.
        var head = 0
        /// The reader was notified, and has not read yet.
        var isNotified = false
        var hasLost = false
        var given: UInt64 = 0
    }
    /// Past it events are lost, and the reader sees that: no test waits so long before its relay's thread had a turn.
    static let limit = 1 << 18
    private let state = Mutex(State())
    private let onNews: @Sendable () -> Void

    /// - Parameter onNews: is called once until `next` had nothing. Under the stream's lock: it must only pass the news
    ///   on.
    init(onNews: @escaping @Sendable () -> Void) { self.onNews = onNews }

    func push(_ event: Event) {
        notify { state in
            if state.events.count - state.head < Self.limit { state.events.append(event) } else { state.hasLost = true }
        }
    }
    func noteLoss() { notify { $0.hasLost = true } }
    private func notify(_ change: (inout State) -> Void) {
        let isNew = state.withLock { state in
            change(&state)
            defer { state.isNotified = true }
            return !state.isNotified
        }
        if isNew { onNews() }
    }
    /// The next event, if it is not above a sequence.
    func next(through last: UInt64) -> Event? {
        state.withLock { state in
            guard state.head < state.events.count else {
                state.isNotified = false
                return nil
            }
            let event = state.events[state.head]
            if event.place.sequence > last {
                state.isNotified = false
                return nil
            }
            state.head += 1
            state.given = event.place.sequence
            if state.head == state.events.count {
                state.events.removeAll(keepingCapacity: state.head <= 1_024)
                state.head = 0
            }
            return event
        }
    }
    /// Whether events were lost since the last look.
    func takeLoss() -> Bool {
        state.withLock { state in
            defer { state.hasLost = false }
            return state.hasLost
        }
    }
    /// The last sequence that the reader has.
    var given: UInt64 { state.withLock { $0.given } }
    var isEmpty: Bool { state.withLock { $0.head == $0.events.count } }
}
