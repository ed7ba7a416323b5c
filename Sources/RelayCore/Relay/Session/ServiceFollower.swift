import Synchronization
import RelayWire

/// Follows a service's name and the streams of its interfaces, without knowing their Swift types.
///
/// - Order: events, gaps and states come in one order, each in its place; calls are sent in the order of `call` and
///   `follow`. A positioned subscription has its own order.
/// - Isolation: the sink is called on the loop's thread; everything else may be called from any thread.
/// - Loss: what the bus did not bring is read from the service's journal, or is a gap; see `StreamMachine`.
/// - Cancellation: `invalidate()`, or release.
final class ServiceFollower: Sendable {
    let core: SessionController
    let loop: BusLoop
    private let cursors: CursorStore

    /// Nothing happens before `activate()`. Throws `InvalidArgument` for a service name that is none.
    ///
    /// - Parameters:
    ///   - durable: interfaces that are known to be durable before their service reports it.
    ///   - cursors: the folder for `.resuming`; nil: the user's state folder.
    ///   - usesRings: whether it asks for rings; else all events come as signals.
    ///   - timing: set by tests.
    ///   - onCursorFailure: a cursor of this name could not be written; called once until it could be again. On any
    ///     thread.
    init(
        service: String, on bus: Bus, requiring requirement: PeerRequirement = .anyone,
        activation: EventRelay.Activation = .onDemand, durable: Set<String> = [], cursors: String? = nil,
        cursorNamespace: String? = nil, usesRings: Bool = true, timing: RelayTiming = RelayTiming(),
        faults: CursorFaults = .none,
        onCursorFailure: @escaping @Sendable (String, RelayError) -> Void = { _, _ in }, sink: any SessionSink
    ) throws {
        try BusNames.check(service, as: .busName)
        try requirement.check(forOwnerOf: service)
        loop = try BusLoop(name: "relay", clock: bus.clock)
        core = SessionController(
            service, bus, requirement, activation, durable, usesRings: usesRings, timing, sink, loop)
        self.cursors = CursorStore(
            cursors, namespace: cursorNamespace, service: service, timing: timing.cursors, faults: faults,
            onFailure: onCursorFailure)
    }
    deinit {
        core.invalidate { [loop] in loop.stop() }
        cursors.flush()
    }

    /// Connects, and goes on doing so. Subscriptions made before it miss nothing.
    func activate() { core.activate() }
    /// Ends it: no event, gap or state comes any more, but for what positioned subscriptions hold.
    func invalidate() {
        core.invalidate()
        cursors.flush()
    }
    /// Begins a cursor where that of another service is: see `CursorStore`.
    func takeOverCursor(_ name: String, of other: String) throws(RelayError) {
        try cursors.takeOver(name, of: other)
    }
    /// Sets which events of an interface are wanted; nil stands for all.
    func follow(interface: String, names: Set<String>?) { core.follow(interface, names) }

    /// A subscription's source, and what begins to fill it: once it is known where its news go.
    func source<Payload>(
        _ interface: String, names: Set<String>?, from start: StreamPosition, _ buffer: EventBuffer,
        _ decoding: ReplayDecoding<Payload>, keptBy keeper: (any PositionKeeper)? = nil
    ) throws(RelayError) -> (source: ReplaySource<Payload>, begin: () -> Void) {
        var keeper = keeper
        var time: Timestamp?
        var from = StreamStart.now
        switch start.kind {
        case .now: break
        case .beginning: from = .oldest
        case .after(let epoch, let sequence): from = .after(epoch: epoch, sequence: sequence)
        case .at(let sequence): from = sequence > 0 ? .at(sequence - 1) : .oldest
        case .since(let since): time = since
        case .resuming(let name, let restarts):
            keeper = try cursors.open(name, interface, names: names, restarts: restarts)
            from = .oldest
        }
        // Where it has come to counts more than where it was to begin.
        if let place = keeper?.start {
            (from, time) = (.after(epoch: place.epoch, sequence: place.sequence, runs: place.runs), nil)
        }
        let source = ReplaySource(ReplayBuffer(buffer, core.drops(of: interface)), decoding, keeper)
        return (source, { [core] in core.add(source, to: interface, names: names, from: from, searching: time) })
    }
    /// Calls a method of the service's object for an interface, or of another one: what introspection needs.
    func call(
        path: String? = nil, interface: String, member: String, signature: Signature = .empty, body: [UInt8] = [],
        timeout: Duration = .seconds(25)
    ) async throws -> BusReply {
        var call = MethodCall(
            to: core.service, path: path ?? Stream1.path(of: interface), interface: interface, member: member,
            signature: signature, body: body)
        call.isConfirmed = interface == Stream1.name && Stream1.confirmed.contains(member)
        return try await core.calls.call(call, timeout: timeout)
    }
    /// Signals that came from somebody else than the service's owner, and were dropped.
    var foreignSignals: Int { core.foreign.load(ordering: .relaxed) }
    /// Rings that held what no ring holds: their events have come as signals since.
    var ringFaults: Int { core.streams.faults }
    /// Pages of the journal that came through a socket, and not through the bus.
    var replayedPages: Int { core.pages.replayedPages.load(ordering: .relaxed) }
}
