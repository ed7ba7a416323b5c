import Synchronization

/// The follower's part that lives on the loop's thread.
final class FollowerCore: BusHandler {
    private struct State {
        var connection: BusConnection?
        /// The unique name behind the service's, once its requirement is met: the only one that is believed.
        var owner: String?
        /// Who has the name, while it is asked whether that one meets the requirement: its events are held.
        var candidate: String?
        /// Whether the bus has said who owns the name, be it nobody.
        var isResolved = false
        /// Counts owners, so that answers about a former one are dropped.
        var ownerGeneration = 0
        var lanes: [String: FollowedLane] = [:]
        /// The same; few.
        var lanesInOrder: [FollowedLane] = []
        var told = EventRelay.State.connecting
        var wasActive = false
        var isActivated = false
        var isInvalidated = false
        var backoff = Backoff()
        var waiting: [WaitingCall] = []
        /// Why no call can be made any more.
        var failure: RelayError?
    }
    private struct WaitingCall {
        let call: MethodCall
        let deadline: UInt64
        let ticket: CallTicket
        let completion: @Sendable (Result<BusReply, RelayError>) -> Void
    }
    let service: String
    private let bus: Bus
    private let requirement: PeerRequirement
    private let activation: EventRelay.Activation
    private let sink: any FollowerSink
    private let loop: BusLoop
    private let state: LoopBound<State>
    private let foreign = Atomic<Int>(0)
    /// How long the service may take for what only its own thread does, before it is asked again.
    private static let answerTime = Duration.seconds(10)
    /// How many calls wait for the bus at the most.
    private static let waitingLimit = 1_024

    init(
        _ service: String, _ bus: Bus, _ requirement: PeerRequirement, _ activation: EventRelay.Activation,
        _ sink: any FollowerSink, _ loop: BusLoop
    ) {
        (self.service, self.bus, self.requirement, self.activation) = (service, bus, requirement, activation)
        (self.sink, self.loop) = (sink, loop)
        state = LoopBound(State(), on: loop)
    }
    var foreignSignals: Int { foreign.load(ordering: .relaxed) }

    // MARK: From any thread

    func activate() {
        loop.execute { [self] in
            if state.onLoop.isActivated || state.onLoop.isInvalidated { return }
            state.onLoop.isActivated = true
            connect()
        }
    }
    func invalidate(then next: @escaping @Sendable () -> Void = {}) {
        loop.execute { [self] in
            state.onLoop.isInvalidated = true
            close(RelayError(.unavailable, "the relay of \(service) was invalidated"))
            // Behind the calls that have just ended.
            loop.execute(next)
        }
    }
    func follow(_ interface: String, _ names: Set<String>?) {
        loop.execute { [self] in
            let lane = lane(interface)
            lane.names = names
            updateRules(lane)
            run(lane.machine.want(names), lane)
            settle()
        }
    }
    func call(_ call: MethodCall, timeout: Duration) async throws -> BusReply {
        let ticket = CallTicket()
        let result: Result<BusReply, RelayError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waiting = WaitingCall(
                    call: call, deadline: MonotonicClock.deadline(after: timeout), ticket: ticket
                ) { continuation.resume(returning: $0) }
                loop.execute { [self] in admit(waiting) }
            }
        } onCancel: {
            loop.execute { [self] in cancel(ticket) }
        }
        return try result.get()
    }

    // MARK: Connecting

    private func connect() {
        if state.onLoop.isInvalidated { return }
        BusConnection.open(bus, on: loop, handler: self) { [weak self] result in
            guard let self else { return }
            switch result {
            case .success(let connection): connected(connection)
            case .failure(let error):
                endWaiting(error)
                tell(state.onLoop.wasActive ? .interrupted : .connecting)
                retry()
            }
        }
    }
    private func retry() {
        let delay = state.onLoop.backoff.delay()
        loop.schedule(after: delay) { [weak self] in self?.connect() }
    }
    private func connected(_ connection: BusConnection) {
        if state.onLoop.isInvalidated { return connection.close() }
        state.onLoop.connection = connection
        connection.addMatch(.owner(of: service))
        for lane in state.onLoop.lanes.values {
            lane.rules = []
            updateRules(lane)
        }
        var body = WireWriter()
        do throws(RelayError) {
            try body.string(service)
            connection.send(.toBus("GetNameOwner", try Signature("s"), body: body.bytes)) { [weak self] result in
                // `NameOwnerChanged` may have said it meanwhile.
                guard let self, !state.onLoop.isResolved else { return }
                state.onLoop.backoff.reset()
                resolved(try? result.get().read("s") { try $0.string() }, isNew: false)
            }
            if activation.startsService {
                body.uint32(0)
                let start = MethodCall.toBus("StartServiceByName", try Signature("su"), body: body.bytes)
                // Not activatable is no failure: it is waited for. Activated: `NameOwnerChanged` tells.
                connection.send(start) { _ in }
            }
        } catch {
            close(error)
        }
    }
    func disconnected(_ reason: RelayError) {
        state.onLoop.connection = nil
        (state.onLoop.owner, state.onLoop.candidate, state.onLoop.isResolved) = (nil, nil, false)
        state.onLoop.ownerGeneration += 1
        for lane in state.onLoop.lanes.values {
            run(lane.machine.disconnected(), lane)
            (lane.generation, lane.hasSchemas) = (lane.generation + 1, false)
        }
        if state.onLoop.isInvalidated { return }
        tell(state.onLoop.wasActive ? .interrupted : .connecting)
        retry()
    }
    private func close(_ reason: RelayError) {
        state.onLoop.connection?.close()
        (state.onLoop.connection, state.onLoop.owner, state.onLoop.candidate) = (nil, nil, nil)
        state.onLoop.failure = reason
        endWaiting(reason)
    }
    /// Retrying will not help.
    private func fail(_ error: RelayError) {
        if state.onLoop.isInvalidated { return }
        tell(.invalidated(error))
        state.onLoop.isInvalidated = true
        close(error)
    }

    // MARK: Owner

    /// - Parameter isNew: whether the owner took the name while this relay was on the bus.
    private func resolved(_ owner: String?, isNew: Bool) {
        state.onLoop.isResolved = true
        state.onLoop.ownerGeneration += 1
        if state.onLoop.owner != nil || state.onLoop.candidate != nil {
            (state.onLoop.owner, state.onLoop.candidate) = (nil, nil)
            for lane in state.onLoop.lanes.values {
                run(lane.machine.ownerVanished(), lane)
                (lane.generation, lane.hasSchemas) = (lane.generation + 1, false)
            }
            tell(state.onLoop.wasActive ? .interrupted : .connecting)
        }
        guard let owner, let connection = state.onLoop.connection else {
            for lane in state.onLoop.lanes.values { lane.machine.ownerAbsent() }
            return admitWaiting()
        }
        let generation = state.onLoop.ownerGeneration
        state.onLoop.candidate = owner
        // It is not asked before it is believed: see `believe`.
        for lane in state.onLoop.lanes.values { _ = lane.machine.ownerAppeared(isNew: isNew) }
        requirement.check(owner, on: connection) { [weak self] verdict in
            guard let self, state.onLoop.ownerGeneration == generation else { return }
            switch verdict {
            case .success: believe(owner)
            // It left before the bus was asked: `NameOwnerChanged` follows.
            case .failure(let error) where error.code == .unavailable: resolveAgain()
            case .failure(let error):
                fail(
                    RelayError(
                        .notPermitted,
                        "\(service) is owned by a peer that does not meet the requirement: \(error.message)",
                        cause: error))
            }
        }
    }
    private func believe(_ owner: String) {
        (state.onLoop.owner, state.onLoop.candidate) = (owner, nil)
        for lane in state.onLoop.lanes.values { run(lane.machine.unanswered(), lane) }
        admitWaiting()
        settle()
    }
    /// The owner does not answer, and nothing was heard of its departure: `NameOwnerChanged` gets lost like any signal when
    /// this relay is too slow for the bus.
    private func resolveAgain() {
        guard let connection = state.onLoop.connection else { return }
        let generation = state.onLoop.ownerGeneration
        var body = WireWriter()
        do throws(RelayError) {
            try body.string(service)
            connection.send(.toBus("GetNameOwner", try Signature("s"), body: body.bytes)) { [weak self] result in
                guard let self, state.onLoop.ownerGeneration == generation else { return }
                let owner = try? result.get().read("s") { try $0.string() }
                if owner != state.onLoop.owner ?? state.onLoop.candidate { resolved(owner, isNew: true) }
            }
        } catch {
            fail(error)
        }
    }

    // MARK: Signals

    func signal(_ message: borrowing ReceivedMessage) {
        if message.hasSender("org.freedesktop.DBus") { return ownerSignal(message) }
        guard let owner = state.onLoop.owner ?? state.onLoop.candidate, message.hasSender(owner) else {
            // Anybody can send a signal of this name to us; only the owner's count.
            foreign.add(1, ordering: .relaxed)
            return
        }
        for lane in state.onLoop.lanesInOrder where message.hasPath(lane.path) {
            if message.hasInterface(lane.interface) {
                event(lane, message)
            } else if message.hasInterface(Stream1.name), message.hasSignature(Stream1.headSignature) {
                head(lane, message)
            }
        }
    }
    private func ownerSignal(_ message: borrowing ReceivedMessage) {
        guard message.hasMember("NameOwnerChanged"), message.hasSignature("sss") else { return }
        let names = message.withBody { body -> [String]? in
            var reader = WireReader(body)
            return try? [reader.string(), reader.string(), reader.string()]
        }
        guard let names, names[0] == service else { return }
        resolved(names[2].isEmpty ? nil : names[2], isNew: true)
    }
    private func event(_ lane: FollowedLane, _ message: borrowing ReceivedMessage) {
        guard let stamp = message.withBody({ Self.stamp(of: $0) }), let event = lane.event(of: message, sink) else {
            return
        }
        switch lane.machine.receive(event.name, stamp.sequence, stamp.previous) {
        case .drop: return
        case .hold:
            let held = FollowedLane.HeldEvent(
                signature: message.signature, body: message.body, stamp: stamp, event: event)
            lane.machine.hold(event.name, stamp.sequence, stamp.previous, held, cost: held.body.count)
        case .deliver(let epoch, let gap):
            if let gap { tell(gap, lane) }
            if event.isWanted {
                message.withSignature { signature in
                    message.withBody { body in
                        sink.event(event.token, signature: signature, body: body, stamp: stamp.inEpoch(epoch))
                    }
                }
            }
            if !lane.hasTick { orderTick(lane) }
        }
    }
    /// The last 24 bytes of a body: three numbers, aligned as the body is.
    private static func stamp(of body: UnsafeRawBufferPointer) -> Stamp? {
        guard body.count >= 24, body.count % 8 == 0 else { return nil }
        func number(_ offset: Int) -> UInt64 {
            // In bounds: counted above.
            UInt64(littleEndian: body.loadUnaligned(fromByteOffset: body.count - 24 + offset, as: UInt64.self))
        }
        return Stamp(
            epoch: 0, sequence: number(0), previous: number(8), publishedAt: Timestamp(microseconds: number(16)))
    }
    private func head(_ lane: FollowedLane, _ message: borrowing ReceivedMessage) {
        let head = message.withBody { body -> StreamHead? in
            var reader = WireReader(body)
            return try? Stream1.readHead(&reader)
        }
        guard let head, let member = message.member, member == "Head" || member == "End" else { return }
        run(
            lane.machine.head(
                epoch: head.epoch, sequence: head.sequence, last: head.last, isLast: member == "End"), lane)
    }

    // MARK: Lanes

    private func lane(_ interface: String) -> FollowedLane {
        if let lane = state.onLoop.lanes[interface] { return lane }
        let lane = FollowedLane(interface)
        state.onLoop.lanes[interface] = lane
        state.onLoop.lanesInOrder.append(lane)
        if state.onLoop.isResolved { lane.machine.ownerAbsent() }
        if state.onLoop.owner != nil || state.onLoop.candidate != nil { _ = lane.machine.ownerAppeared(isNew: false) }
        return lane
    }
    private func updateRules(_ lane: FollowedLane) {
        guard let connection = state.onLoop.connection else { return }
        let wanted = lane.wantedRules(of: service)
        // The new ones first: between the two the bus must not drop anything.
        for rule in wanted where !lane.rules.contains(rule) {
            connection.addMatch(rule) { [weak self] result in
                guard let self, case .failure(let error) = result, error.code != .unavailable else { return }
                fail(
                    RelayError(
                        error.code, "the bus refuses to pass on \(lane.interface): \(error.message)", cause: error))
            }
        }
        for rule in lane.rules where !wanted.contains(rule) { connection.removeMatch(rule) }
        lane.rules = wanted
    }
    private func run(_ actions: [LaneMachine<FollowedLane.HeldEvent>.Action], _ lane: FollowedLane) {
        for action in actions {
            switch action {
            case .deliver(let held, let epoch):
                guard held.event.isWanted else { continue }
                held.signature.withCString { signature in
                    held.body.withUnsafeBytes { body in
                        sink.event(
                            held.event.token, signature: signature, body: body, stamp: held.stamp.inEpoch(epoch))
                    }
                }
            case .gap(let gap): tell(gap, lane)
            case .attach(let epoch, let after): attach(lane, epoch, after)
            }
        }
        if lane.machine.needsTick && !lane.hasTick { orderTick(lane) }
    }
    private func tell(_ gap: Gap, _ lane: FollowedLane) {
        if gap.reason == .lost {
            for other in state.onLoop.lanes.values where other !== lane {
                other.machine.suspectLoss()
                if other.machine.needsTick && !other.hasTick { orderTick(other) }
            }
        }
        guard let names = lane.names else { return sink.gap(gap, in: lane.interface, of: nil) }
        if names.count == 1 { return sink.gap(gap, in: lane.interface, of: names.first) }
        // How many of them are of the names that a subscription is for is not known.
        let uncounted = Gap(gap.sequences, epoch: gap.epoch, count: nil, reason: gap.reason, detail: gap.detail)
        sink.gap(uncounted, in: lane.interface, of: nil)
    }
    private func orderTick(_ lane: FollowedLane) {
        lane.hasTick = true
        loop.schedule(after: .seconds(2)) { [weak self] in
            lane.hasTick = false
            guard let self else { return }
            switch lane.machine.tick() {
            case .rest: break
            case .again: orderTick(lane)
            case .attach(let epoch, let after): attach(lane, epoch, after)
            }
        }
    }
    private func attach(_ lane: FollowedLane, _ epoch: UInt64, _ after: UInt64) {
        guard let connection = state.onLoop.connection, let owner = state.onLoop.owner else { return }
        lane.generation += 1
        let (generation, ownerGeneration) = (lane.generation, state.onLoop.ownerGeneration)
        do throws(RelayError) {
            if !lane.hasSchemas {
                let call = MethodCall(to: owner, path: lane.path, interface: Stream1.name, member: "Schemas")
                connection.send(call, timeout: Self.answerTime) { [weak self] result in
                    self?.schemas(result, lane, ownerGeneration)
                }
            }
            var body = WireWriter()
            try Stream1.write(
                attach: epoch, after: after, names: lane.names.map(Array.init) ?? [Stream1.allNames], into: &body)
            let call = MethodCall(
                to: owner, path: lane.path, interface: Stream1.name, member: "Attach",
                signature: try Signature(Stream1.attachSignature), body: body.bytes)
            connection.send(call, timeout: Self.answerTime) { [weak self] result in
                self?.attached(result, lane, generation)
            }
        } catch {
            fail(error)
        }
    }
    private func schemas(_ result: Result<BusReply, RelayError>, _ lane: FollowedLane, _ ownerGeneration: Int) {
        guard state.onLoop.ownerGeneration == ownerGeneration, state.onLoop.owner != nil else { return }
        do {
            let schemas = try result.get().read(Stream1.schemasSignature) { try Stream1.readSchemas(&$0) }
            var current: [String: EventSchema] = [:]
            // Of several schemas of one event the highest number is the present one.
            for (_, schema) in schemas.sorted(by: { $0.key < $1.key }) { current[schema.event] = schema }
            lane.hasSchemas = true
            sink.schemas(Array(current.values), of: lane.interface)
        } catch .timedOut, .unavailable, .limitsExceeded {
            // The request goes out again with the next `Attach`.
        } catch {
            refused(error, lane)
        }
    }
    private func attached(_ result: Result<BusReply, RelayError>, _ lane: FollowedLane, _ generation: Int) {
        guard lane.generation == generation, state.onLoop.owner != nil else { return }
        do {
            let answer = try result.get().read(Stream1.attachmentSignature) { try Stream1.readAttachment(&$0) }
            run(lane.machine.attached(answer), lane)
            settle()
        } catch .timedOut {
            // It may be stopped, or its answer was lost: as long as it has the name, it is the one to ask.
            run(lane.machine.unanswered(), lane)
        } catch .limitsExceeded {
            loop.schedule(after: .seconds(1)) { [weak self] in
                guard let self, lane.generation == generation, state.onLoop.owner != nil else { return }
                run(lane.machine.unanswered(), lane)
            }
        } catch .unavailable {
            resolveAgain()
        } catch {
            refused(error, lane)
        }
    }
    /// The owner did not answer as a service does.
    private func refused(_ error: any Error, _ lane: FollowedLane) {
        let error = error as? RelayError ?? RelayError(.internalFailure, "\(error)")
        fail(
            RelayError(
                error.code, "\(service) does not let us follow \(lane.interface): \(error.message)", cause: error))
    }

    // MARK: States

    /// Active once every lane is in step.
    private func settle() {
        guard state.onLoop.owner != nil, state.onLoop.lanes.values.allSatisfy(\.machine.isSettled) else { return }
        state.onLoop.wasActive = true
        tell(.active)
    }
    private func tell(_ new: EventRelay.State) {
        if state.onLoop.isInvalidated || state.onLoop.told.isSame(as: new) { return }
        state.onLoop.told = new
        sink.state(new)
    }

    // MARK: Calls

    func methodCall(_ call: IncomingCall) {
        state.onLoop.connection?.fail(
            call, ErrorNames.unknownObject, "nothing is exported here: this is a relay of \(service)")
    }
    /// Sends a call, or lets it wait until it is known to whom.
    private func admit(_ waiting: WaitingCall) {
        if waiting.ticket.isCancelled { return waiting.completion(.failure(Self.cancelled)) }
        if let reason = state.onLoop.failure { return waiting.completion(.failure(reason)) }
        if !state.onLoop.isActivated {
            return waiting.completion(
                .failure(RelayError(.unavailable, "the relay of \(service) is not active: call activate() first")))
        }
        guard let connection = state.onLoop.connection, state.onLoop.isResolved else {
            if state.onLoop.wasActive && state.onLoop.connection == nil {
                return waiting.completion(.failure(RelayError(.unavailable, "\(waiting.call.title): the bus is gone")))
            }
            return wait(waiting)
        }
        var call = waiting.call
        if let owner = state.onLoop.owner {
            call.destination = owner
        } else if state.onLoop.candidate != nil {
            return wait(waiting)
        } else if !requirement.isAnyone {
            return waiting.completion(.failure(RelayError(.unavailable, "\(service) is not running")))
        }
        if !activation.startsService { call.flags.insert(.noAutoStart) }
        let now = MonotonicClock.now
        let left = Duration.nanoseconds(Int64(clamping: waiting.deadline > now ? waiting.deadline - now : 0))
        waiting.ticket.connection = connection
        waiting.ticket.serial = connection.send(call, timeout: left, completion: waiting.completion)
    }
    private func wait(_ waiting: WaitingCall) {
        if state.onLoop.waiting.count >= Self.waitingLimit {
            return waiting.completion(
                .failure(RelayError(.limitsExceeded, "\(waiting.call.title): too many calls wait for the bus")))
        }
        state.onLoop.waiting.append(waiting)
        let now = MonotonicClock.now
        let left = Duration.nanoseconds(Int64(clamping: waiting.deadline > now ? waiting.deadline - now : 0))
        loop.schedule(after: left) { [weak self] in
            self?.drop(waiting.ticket, RelayError(.timedOut, "\(waiting.call.title): no bus in time"))
        }
    }
    private func admitWaiting() {
        let all = state.onLoop.waiting
        state.onLoop.waiting = []
        for waiting in all { admit(waiting) }
    }
    private func endWaiting(_ error: RelayError) {
        let all = state.onLoop.waiting
        state.onLoop.waiting = []
        for waiting in all { waiting.completion(.failure(error)) }
    }
    private static let cancelled = RelayError(.cancelled, "the task was cancelled before its call was sent")
    private func cancel(_ ticket: CallTicket) {
        ticket.isCancelled = true
        if let serial = ticket.serial {
            ticket.connection?.cancel(serial)
        } else {
            drop(ticket, Self.cancelled)
        }
    }
    private func drop(_ ticket: CallTicket, _ error: RelayError) {
        guard let index = state.onLoop.waiting.firstIndex(where: { $0.ticket === ticket }) else { return }
        state.onLoop.waiting.remove(at: index).completion(.failure(error))
    }
}
