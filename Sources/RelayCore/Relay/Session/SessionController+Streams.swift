import Glibc
import Synchronization

/// Lanes: what comes from the owner, and what is asked of it.
extension SessionController {
    /// How long the service may take for what only its own thread does, before it is asked again.
    static let answerTime = Duration.seconds(10)

    // MARK: Signals

    func signal(_ message: borrowing ReceivedMessage) {
        if message.hasSender("org.freedesktop.DBus") { return ownerSignal(message) }
        switch state.onLoop.session.verdict({ message.hasSender($0) }) {
        case .take: take(message)
        case .hold: hold(message)
        // Anybody can send a signal of this name to us; only the owner's count.
        case .drop: foreign.add(1, ordering: .relaxed)
        }
    }
    private func take(_ message: borrowing ReceivedMessage) {
        for stream in state.onLoop.streamsInOrder where message.hasPath(stream.path) {
            if message.hasInterface(stream.interface) {
                // The ring has it.
                if stream.transport.takesSignals { event(stream, message) }
            } else if message.hasInterface(Stream1.name), message.hasSignature(Stream1.headSignature) {
                head(stream, message)
            }
        }
    }
    /// Keeps what an owner sends of a stream until it is verified.
    private func hold(_ message: borrowing ReceivedMessage) {
        for stream in state.onLoop.streamsInOrder where message.hasPath(stream.path) {
            let isEvent = message.hasInterface(stream.interface)
            let isWord = message.hasInterface(Stream1.name) && message.hasSignature(Stream1.headSignature)
            guard isEvent || isWord, let member = message.member else { continue }
            let signal = HeldSignal(
                stream: stream, isEvent: isEvent, member: member, signature: Array(message.signature.utf8),
                body: message.body)
            state.onLoop.session.hold(signal, cost: signal.body.count)
        }
    }
    /// A signal that was held comes now, behind nothing that its owner sent before.
    func take(_ signal: HeldSignal) {
        signal.body.withUnsafeBytes { body in
            if !signal.isEvent { return head(signal.stream, signal.member, body) }
            guard let stamp = RawEvent.stamp(of: body, epoch: 0) else { return }
            let event = Array(signal.member.utf8).withUnsafeBytes { signal.stream.event(named: $0, sink) }
            signal.signature.withUnsafeBytes { take(event, stamp, signal.stream, signature: $0, body) }
        }
    }
    private func ownerSignal(_ message: borrowing ReceivedMessage) {
        guard let change = OwnerChange(message), change.name == service else { return }
        ownerChanged(state.onLoop.session.ownerChanged(to: change.newOwner))
    }
    private func event(_ stream: FollowedStream, _ message: borrowing ReceivedMessage) {
        message.withBody { body in
            message.withSignature { text in
                guard let stamp = RawEvent.stamp(of: body, epoch: 0) else { return }
                // A C string, which ends with a NUL.
                let signature = UnsafeRawBufferPointer(start: text, count: strlen(text))
                take(stream.event(of: message, sink), stamp, stream, signature: signature, body)
            }
        }
    }
    private func take(
        _ event: FollowedStream.Event, _ stamp: Stamp, _ stream: FollowedStream, signature: UnsafeRawBufferPointer,
        _ body: UnsafeRawBufferPointer
    ) {
        let raw = RawEvent(
            schemas: stream.schemas, schema: event.schema, signature: signature, body: body, isLive: true)
        for member in stream.members { take(event, raw, stamp, member, stream) }
    }
    func take(
        _ event: FollowedStream.Event, _ raw: RawEvent, _ stamp: Stamp, _ member: StreamSubscriber,
        _ stream: FollowedStream
    ) {
        if member.machine.isSettled, isFull(event, member) { member.machine.fellBehind() }
        switch member.machine.receive(event.name, stamp.sequence, stamp.previous) {
        case .drop: return
        case .hold:
            let held = StreamSubscriber.HeldEvent(event, raw, stamp)
            let action = member.machine.hold(
                event.name, stamp.sequence, stamp.previous, held, cost: held.body.count)
            if action == .nothing { return }
            // A hole: who else reads from this bus may have one, too.
            suspectLoss(but: stream)
            run(action, member, stream)
        case .deliver(let epoch, let gap):
            if let gap { tell(gap, member, stream) }
            deliver(event, raw, stamp.inEpoch(epoch), member, stream)
            orderTickIfNeeded(member, stream)
        }
    }
    /// Whether an event that can be read later has no room now.
    private func isFull(_ event: FollowedStream.Event, _ member: StreamSubscriber) -> Bool {
        guard let feed = member.feed, member.token(of: event) >= 0 else { return false }
        return !feed.wantsSignal(isDurable: member.machine.isDurable)
    }
    /// A signal in its place.
    private func deliver(
        _ event: FollowedStream.Event, _ raw: RawEvent, _ stamp: Stamp, _ member: StreamSubscriber,
        _ stream: FollowedStream
    ) {
        if event.isExcess { return tellExcess(stamp, member, stream) }
        guard let feed = member.feed else {
            if event.isWanted { sink.event(event.token, raw, stamp: stamp) }
            return
        }
        let token = member.token(of: event)
        guard token >= 0 else { return }
        feed.append(live: ReplayPage(live: token, raw, stamp), isDurable: member.machine.isDurable)
    }
    /// An event of a service that has more names than an interface may have: a relay keeps no table without end.
    func tellExcess(_ stamp: Stamp, _ member: StreamSubscriber, _ stream: FollowedStream) {
        // Those that are wanted by name are known.
        if member.names != nil { return }
        let text = "\(service) has too many events in \(stream.interface): at most \(ContractLimits.events)"
        let one = stamp.sequence...stamp.sequence
        tell(Gap(one, epoch: stamp.epoch, count: 1, reason: .schemaMismatch, detail: text), member, stream)
    }
    private func head(_ stream: FollowedStream, _ message: borrowing ReceivedMessage) {
        guard let member = message.member else { return }
        message.withBody { head(stream, member, $0) }
    }
    private func head(_ stream: FollowedStream, _ member: String, _ body: UnsafeRawBufferPointer) {
        var reader = WireReader(body)
        guard member == "Head" || member == "End", let head = try? Stream1.readHead(&reader) else { return }
        let isLast = member == "End"
        if stream.ring != nil {
            // What it counts is in the ring. Who waits for an answer hears by that where the stream stands, and the others by
            // what comes then; the last word waits for nobody.
            if stream.awaitsAnswer && !isLast { return }
            drain(stream)
        }
        for follower in stream.members {
            let action = follower.machine.head(
                epoch: head.epoch, sequence: head.sequence, last: head.last, isLast: isLast)
            run(action, follower, stream)
        }
    }

    // MARK: Lanes

    func stream(_ interface: String) -> FollowedStream {
        if let stream = state.onLoop.streams[interface] { return stream }
        let stream = FollowedStream(interface, isDurable: durable.contains(interface))
        state.onLoop.streams[interface] = stream
        state.onLoop.streamsInOrder.append(stream)
        begin(stream.shared)
        return stream
    }
    /// Tells a new machine what is known of the owner.
    func begin(_ member: StreamSubscriber) {
        let session = state.onLoop.session
        if session.isOwnershipKnown { member.machine.ownerAbsent() }
        if session.owner != nil || session.candidate != nil {
            _ = member.machine.ownerAppeared(isNew: false)
        }
    }
    func updateRules(_ stream: FollowedStream) {
        guard let connection = state.onLoop.connection else { return }
        let wanted = stream.wantedRules(of: service)
        // The new ones first: between the two the bus must not drop anything.
        for rule in wanted where !stream.rules.contains(rule) {
            connection.addMatch(rule) { [weak self] result in
                guard let self, case .failure(let error) = result, error.code != .unavailable else { return }
                fail(
                    RelayError(
                        error.code, "the bus refuses to pass on \(stream.interface): \(error.message)", cause: error))
            }
        }
        for rule in stream.rules where !wanted.contains(rule) { connection.removeMatch(rule) }
        stream.rules = wanted
    }
    func run(
        _ action: some StreamAction<StreamSubscriber.HeldEvent>, _ member: StreamSubscriber, _ stream: FollowedStream
    ) {
        var isBehind = false
        for step in action.steps {
            switch step {
            // What has no room is read when there is some.
            case .show(.deliver), .read: if isBehind { continue }
            case .show(.gap), .attach: break
            }
            switch step {
            case .show(.deliver(let held, let epoch)):
                if isFull(held.event, member) {
                    isBehind = true
                    member.machine.fellBehind(before: held.stamp.sequence)
                    continue
                }
                held.withRaw(stream.schemas) { deliver(held.event, $0, held.stamp.inEpoch(epoch), member, stream) }
            case .show(.gap(let gap)): tell(gap, member, stream)
            case .attach(let epoch, let after): if member.search == nil { attach(member, stream, epoch, after) }
            case .read(let after): read(after: after, member, stream)
            }
        }
        orderTickIfNeeded(member, stream)
    }
    func tell(_ gap: Gap, _ member: StreamSubscriber, _ stream: FollowedStream) {
        if gap.reason == .lost { suspectLoss(but: stream) }
        // How many of them are of the names that a subscription is for is not known.
        let isCounted = member.names.map { $0.count == 1 } ?? true
        let told =
            isCounted
            ? gap : Gap(gap.sequences, epoch: gap.epoch, count: nil, reason: gap.reason, detail: gap.detail)
        if let feed = member.feed { return feed.append(told) }
        sink.gap(told, in: stream.interface, of: isCounted ? member.names?.first : nil)
    }
    private func suspectLoss(but stream: FollowedStream) {
        // A ring has lost nothing of it.
        for other in state.onLoop.streamsInOrder where other !== stream && other.transport.takesSignals {
            suspectLoss(of: other)
        }
    }
    func orderTickIfNeeded(_ member: StreamSubscriber, _ stream: FollowedStream) {
        if member.machine.needsTick && !member.hasTick { orderTick(member, stream) }
    }
    func orderTick(_ member: StreamSubscriber, _ stream: FollowedStream) {
        member.hasTick = true
        loop.schedule(after: .seconds(2)) { [weak self] in
            member.hasTick = false
            guard let self, stream.members.contains(member) else { return }
            tellLasting(stream)
            switch member.machine.tick() {
            case .rest: break
            case .again: if !member.hasTick { orderTick(member, stream) }
            case .attach(let epoch, let after): attach(member, stream, epoch, after)
            }
        }
    }

    // MARK: Attach and Schemas

    /// Once it is known how the events come.
    private func attach(_ member: StreamSubscriber, _ stream: FollowedStream, _ epoch: UInt64, _ after: UInt64) {
        guard state.onLoop.connection != nil, state.onLoop.owner != nil else { return }
        member.generation += 1
        member.waitingAttach = (epoch, after)
        perform(stream.transport.attachWanted(), stream)
    }
    func sendAttach(_ member: StreamSubscriber, _ stream: FollowedStream) {
        guard let connection = state.onLoop.connection, let owner = state.onLoop.owner,
            let (epoch, after) = member.waitingAttach
        else { return }
        member.waitingAttach = nil
        let generation = member.generation
        askSchemas(stream)
        do throws(RelayError) {
            var body = WireWriter()
            let options = AttachOptions(runs: member.machine.ancestry(of: epoch))
            try Stream1.write(
                AttachRequest(epoch: epoch, after: after, names: stream.attachedNames, options: options), into: &body)
            let call = MethodCall(
                to: owner, path: stream.path, interface: Stream1.name, member: "Attach",
                signature: try Signature(Stream1.attachSignature), body: body.bytes)
            connection.send(call, timeout: Self.answerTime) { [weak self] result in
                self?.attached(result, member, stream, generation)
            }
        } catch {
            fail(error)
        }
    }
    /// Unless the owner has told, or is being asked.
    func askSchemas(_ stream: FollowedStream) {
        guard stream.schemas == nil, !stream.isAskingSchemas else { return }
        guard let connection = state.onLoop.connection, let owner = state.onLoop.owner else { return }
        stream.isAskingSchemas = true
        let generation = state.onLoop.session.generation
        let call = MethodCall(to: owner, path: stream.path, interface: Stream1.name, member: "Schemas")
        connection.send(call, timeout: Self.answerTime) { [weak self] result in
            self?.schemas(result, stream, generation)
        }
    }
    private func schemas(_ result: Result<BusReply, RelayError>, _ stream: FollowedStream, _ ownerGeneration: Int) {
        guard state.onLoop.session.generation == ownerGeneration, state.onLoop.owner != nil else { return }
        stream.isAskingSchemas = false
        do {
            let schemas = try result.get().read(Stream1.schemasSignature) { try Stream1.readSchemas(&$0) }
            sink.schemas(stream.adopt(schemas), of: stream.interface)
            beginRing(stream)
            tellLasting(stream)
            readNext()
        } catch .timedOut, .unavailable, .limitsExceeded {
            // No page can be read without: again, unless another `Attach` has asked by then.
            loop.schedule(after: Self.patience) { [weak self] in
                guard let self, state.onLoop.session.generation == ownerGeneration else { return }
                if stream.names?.isEmpty != true, stream.refusal == nil { askSchemas(stream) }
            }
        } catch {
            refused(error, stream)
        }
    }
    private func attached(
        _ result: Result<BusReply, RelayError>, _ member: StreamSubscriber, _ stream: FollowedStream, _ generation: Int
    ) {
        guard member.generation == generation, state.onLoop.owner != nil else { return }
        defer { releaseReplies() }
        do {
            let answer = try result.get().read(Stream1.attachmentSignature) { try Stream1.readAttachment(&$0) }
            state.onLoop.features = answer.details.features
            if stream.ring != nil {
                guard readRing(upTo: answer, member, stream, generation) else { return }
            }
            let action = member.machine.finishAttach(answer)
            member.answered(answer)
            run(action, member, stream)
            readOrPark(stream)
            member.markCaughtUp()
            settle()
        } catch .timedOut {
            // It may be stopped, or its answer was lost: as long as it has the name, it is the one to ask.
            run(member.machine.unanswered(), member, stream)
        } catch .notFound where stream.refusal == nil && stream.isMissingSomething && !stream.hasLeftOutMissing {
            // Asked before it was known what the owner has: again, without what it lacks.
            stream.hasLeftOutMissing = true
            for member in stream.members where !member.isAnswered { run(member.machine.unanswered(), member, stream) }
        } catch .limitsExceeded {
            loop.schedule(after: Self.patience) { [weak self] in
                guard let self, member.generation == generation, state.onLoop.owner != nil else { return }
                run(member.machine.unanswered(), member, stream)
            }
        } catch .unavailable {
            askForOwner()
        } catch {
            refused(error, stream)
        }
    }
    /// What the owner published before its answer is in the ring, and comes before it; what is behind that comes afterwards.
    ///
    /// False: the answer counts no longer.
    private func readRing(
        upTo answer: Attachment, _ member: StreamSubscriber, _ stream: FollowedStream, _ generation: Int
    ) -> Bool {
        if stream.ring?.epoch != answer.epoch {
            fault(RingFault(.epoch(answer.epoch)), stream)
        } else {
            run(member.machine.beginAttach(answer), member, stream)
            read(stream, through: answer.head, most: .max)
        }
        return member.generation == generation
    }
    /// The owner did not answer as a service does that has this interface. The next one may, unless it is a matter of who
    /// asks.
    func refused(_ error: any Error, _ stream: FollowedStream) {
        defer { releaseReplies() }
        let error = error as? RelayError ?? RelayError(.internalFailure, "\(error)")
        let text = "\(service) does not let us follow \(stream.interface): \(error.message)"
        if error.code == .notPermitted { return fail(RelayError(error.code, text, cause: error)) }
        for member in stream.members {
            run(member.machine.refused(), member, stream)
            state.onLoop.reads.withdraw(member)
        }
        if stream.refusal != nil { return }
        let refusal = Gap(1...UInt64.max, epoch: 0, count: nil, reason: .schemaMismatch, detail: text)
        stream.refusal = refusal
        sink.lasting(refusal, in: stream.interface, of: nil, isNew: true)
        tellLasting(stream)
        report(state.onLoop.session.interrupted())
    }
    /// Tells what the present owner lacks: each subscription once, also those that came since.
    func tellLasting(_ stream: FollowedStream) {
        func gap(_ name: String) -> Gap {
            let text = "\(service) has no event \(name) in \(stream.interface)"
            return Gap(1...UInt64.max, epoch: 0, count: nil, reason: .schemaMismatch, detail: text)
        }
        if let refusal = stream.refusal {
            sink.lasting(refusal, in: stream.interface, of: nil, isNew: false)
        } else {
            for name in stream.missing(stream.shared) {
                let isNew = stream.toldMissing.insert(name).inserted
                sink.lasting(gap(name), in: stream.interface, of: name, isNew: isNew)
            }
        }
        for member in stream.members {
            member.tell(refusal: stream.refusal, missing: stream.refusal == nil ? stream.missing(member) : [], gap)
        }
        if stream.hasLasting && !stream.shared.hasTick { orderTick(stream.shared, stream) }
    }
}
