import Synchronization

/// Lanes: what comes from the owner, and what is asked of it.
extension FollowerCore {
    /// How long the service may take for what only its own thread does, before it is asked again.
    private static let answerTime = Duration.seconds(10)

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
        guard let change = OwnerChange(message), change.name == service else { return }
        resolved(change.newOwner, isNew: true)
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
            run(lane.machine.hold(event.name, stamp.sequence, stamp.previous, held, cost: held.body.count), lane)
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

    func lane(_ interface: String) -> FollowedLane {
        if let lane = state.onLoop.lanes[interface] { return lane }
        let lane = FollowedLane(interface)
        state.onLoop.lanes[interface] = lane
        state.onLoop.lanesInOrder.append(lane)
        if state.onLoop.isResolved { lane.machine.ownerAbsent() }
        if state.onLoop.owner != nil || state.onLoop.candidate != nil { _ = lane.machine.ownerAppeared(isNew: false) }
        return lane
    }
    func updateRules(_ lane: FollowedLane) {
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
    func run(_ actions: [LaneMachine<FollowedLane.HeldEvent>.Action], _ lane: FollowedLane) {
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
            case .read: run(lane.machine.readRefused(), lane)
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
            tellLasting(lane)
            switch lane.machine.tick() {
            case .rest: break
            case .again: if !lane.hasTick { orderTick(lane) }
            case .attach(let epoch, let after): attach(lane, epoch, after)
            }
        }
    }
    private func attach(_ lane: FollowedLane, _ epoch: UInt64, _ after: UInt64) {
        guard let connection = state.onLoop.connection, let owner = state.onLoop.owner else { return }
        lane.generation += 1
        let (generation, ownerGeneration) = (lane.generation, state.onLoop.ownerGeneration)
        do throws(RelayError) {
            if lane.known == nil {
                let call = MethodCall(to: owner, path: lane.path, interface: Stream1.name, member: "Schemas")
                connection.send(call, timeout: Self.answerTime) { [weak self] result in
                    self?.schemas(result, lane, ownerGeneration)
                }
            }
            var body = WireWriter()
            try Stream1.write(
                attach: epoch, after: after, names: lane.attachedNames, into: &body)
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
            lane.known = Set(current.keys)
            sink.schemas(Array(current.values), of: lane.interface)
            tellLasting(lane)
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
        } catch .notFound where lane.refusal == nil && !lane.missing.isEmpty && !lane.hasLeftOutMissing {
            // Asked before it was known what the owner has: again, without what it lacks.
            lane.hasLeftOutMissing = true
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
    /// The owner did not answer as a service does that has this interface. The next one may, unless it is a matter of who
    /// asks.
    private func refused(_ error: any Error, _ lane: FollowedLane) {
        let error = error as? RelayError ?? RelayError(.internalFailure, "\(error)")
        let text = "\(service) does not let us follow \(lane.interface): \(error.message)"
        if error.code == .notPermitted { return fail(RelayError(error.code, text, cause: error)) }
        run(lane.machine.refused(), lane)
        if lane.refusal != nil { return }
        let refusal = Gap(1...UInt64.max, epoch: 0, count: nil, reason: .schemaMismatch, detail: text)
        lane.refusal = refusal
        sink.lasting(refusal, in: lane.interface, of: nil, isNew: true)
        if !lane.hasTick { orderTick(lane) }
        tell(.interrupted)
    }
    /// Tells what the present owner lacks: each subscription once, also those that came since.
    func tellLasting(_ lane: FollowedLane) {
        if let refusal = lane.refusal {
            sink.lasting(refusal, in: lane.interface, of: nil, isNew: false)
        } else {
            for name in lane.missing {
                let text = "\(service) has no event \(name) in \(lane.interface)"
                let gap = Gap(1...UInt64.max, epoch: 0, count: nil, reason: .schemaMismatch, detail: text)
                let isNew = lane.toldMissing.insert(name).inserted
                sink.lasting(gap, in: lane.interface, of: name, isNew: isNew)
            }
        }
        if lane.hasLasting && !lane.hasTick { orderTick(lane) }
    }
}
