import Glibc
import RelayWire

/// What comes from the owner: to the machine of each member, and from there to the sink or a feed.
extension StreamController {
    // MARK: Messages

    /// A signal at this stream's path.
    func signal(_ message: borrowing ReceivedMessage) {
        if message.hasInterface(interface) {
            // Else the ring has it; or that has ended, and the owner's word about it was lost.
            if inlets.takesSignals {
                event(message)
            } else if inlets.ring.hasEnded {
                reattach()
                event(message)
            }
        } else if message.hasInterface(Stream1.name), message.hasMember("Reattach") {
            reattach()
        } else if message.hasInterface(Stream1.name), message.hasSignature(Stream1.headSignature) {
            guard let member = message.member else { return }
            message.withBody { head(member, $0) }
        }
    }
    /// A signal that was held comes now, behind nothing that its owner sent before.
    func signal(_ held: HeldSignal) {
        held.body.withUnsafeBytes { body in
            if !held.isEvent { return head(held.member, body) }
            Array(held.member.utf8).withUnsafeBytes { name in
                held.signature.withUnsafeBytes { signature in
                    receive(message: name, signature: signature, body: body)
                }
            }
        }
    }
    private func event(_ message: borrowing ReceivedMessage) {
        message.withBody { body in
            message.withSignature { text in
                guard let stamp = Stamp(endOf: body, epoch: 0) else { return }
                // A C string, which ends with a NUL.
                let signature = UnsafeRawBufferPointer(start: text, count: strlen(text))
                receive(events.event(of: message, for: members), stamp, signature: signature, body)
            }
        }
    }
    /// An event as a whole message: its fields and its stamp.
    func receive(
        message name: UnsafeRawBufferPointer, signature: UnsafeRawBufferPointer, body: UnsafeRawBufferPointer
    ) {
        guard let stamp = Stamp(endOf: body, epoch: 0) else { return }
        receive(events.event(named: name, for: members), stamp, signature: signature, body)
    }
    private func receive(
        _ event: StreamEvent, _ stamp: Stamp, signature: UnsafeRawBufferPointer, _ body: UnsafeRawBufferPointer
    ) {
        let format = event.format.map { Unmanaged.passUnretained($0) }
        let raw = RawEvent(.signal, stamp, format, signature: signature, body: body)
        for member in members { receive(event, raw, member) }
    }
    /// The owner announces where the stream stands, by `Head` or by `End`.
    private func head(_ member: String, _ body: UnsafeRawBufferPointer) {
        var reader = WireReader(body)
        guard member == "Head" || member == "End", let head = try? Stream1.readHead(&reader) else { return }
        let isLast = member == "End"
        if !inlets.takesSignals {
            // What it counts is in the inlet. A member that waits for an answer learns by that where the stream stands,
            // and the others by what comes then; the last word waits for nobody.
            if awaitsAnswer && !isLast { return }
            drain()
            // Of an owner that goes on: it gives another one, and its word about that was lost.
            if inlets.ring.hasEnded && !isLast { return reattach() }
        }
        for member in members {
            let action = member.machine.head(
                epoch: head.epoch, sequence: head.sequence, last: head.last, isLast: isLast)
            run(action, member)
        }
    }

    // MARK: Events

    /// An event of a ring. Nearly every one is the next in order: then nothing is looked up.
    @inline(__always)
    func receive(_ event: StreamEvent, _ raw: RawEvent) {
        if hasOthers {
            for member in members { receive(event, raw, member) }
        } else if let epoch = shared.machine.receiveNext(event.name, raw.stamp.sequence, raw.stamp.previous) {
            if event.isWanted {
                counts.ring.increment()
                sink.event(event.token, raw.inEpoch(epoch))
            } else if event.isExcess {
                reportExcess(raw.stamp.inEpoch(epoch), shared)
            }
        } else {
            receive(event, raw, shared)
        }
    }
    /// An event that a ring has no room for: the service keeps it, and shows here that it is there.
    func skip(_ event: StreamEvent, _ sequence: UInt64, in epoch: UInt64) {
        for member in members where member.machine.accounts(for: event.name) {
            let action = member.machine.head(epoch: epoch, sequence: sequence, last: [event.name: sequence])
            run(action, member)
        }
    }
    private func receive(
        _ event: StreamEvent, _ raw: RawEvent, _ member: StreamSubscriber
    ) {
        let stamp = raw.stamp
        if member.feed != nil, member.machine.isSettled, isFull(event, member) { member.machine.fellBehind() }
        let action = member.machine.receive(event.name, stamp.sequence, stamp.previous)
        switch action.event {
        case .drop: return
        case .hold:
            let action = member.machine.hold(
                event.name, stamp.sequence, stamp.previous, (event, KeptEvents(raw)), cost: raw.body.count)
            if action.request == nil { return }
            // A hole: another stream of this bus may have one, too.
            observer?.streamLost(self)
            run(action, member)
        case .deliver(let epoch):
            if !action.output.isEmpty { show(action.output, member) }
            deliver(event, raw.inEpoch(epoch), member)
            orderTickIfNeeded(member)
        }
    }
    /// Whether an event that can be read later has no room now.
    private func isFull(_ event: StreamEvent, _ member: StreamSubscriber) -> Bool {
        guard let feed = member.feed, member.token(of: event) >= 0 else { return false }
        return !feed.wantsSignal(isDurable: member.machine.isDurable)
    }
    /// An event in its place.
    private func deliver(
        _ event: StreamEvent, _ raw: RawEvent, _ member: StreamSubscriber
    ) {
        if event.isExcess { return reportExcess(raw.stamp, member) }
        guard let feed = member.feed else {
            if event.isWanted {
                counts.count(raw)
                sink.event(event.token, raw)
            }
            return
        }
        let token = member.token(of: event)
        guard token >= 0 else { return }
        counts.count(raw)
        feed.append(live: KeptEvents(raw, token: token), isDurable: member.machine.isDurable)
    }

    // MARK: Actions

    /// Performs an action that has no event at hand.
    func run(_ action: StreamSubscriber.Machine.Action, _ member: StreamSubscriber) {
        let hasRoom = show(action.output, member)
        switch action.request {
        case .attach(let epoch, let after)?: if member.search == nil { attach(member, epoch, after) }
        // What has no room is read when there is some.
        case .read(let after)?: if hasRoom { read(after: after, member) }
        case nil: break
        }
        orderTickIfNeeded(member)
    }
    /// Returns whether there was room for all of it. Gaps need none.
    @discardableResult
    private func show(_ output: [StreamSubscriber.Machine.Output], _ member: StreamSubscriber) -> Bool {
        var hasRoom = true
        for part in output {
            switch part {
            case .deliver(let held, _) where hasRoom && isFull(held.event, member):
                hasRoom = false
                member.machine.fellBehind(before: held.kept.stamp(0).sequence)
            case .deliver(let held, let epoch):
                if !hasRoom { continue }
                held.kept.withEvent(0, held.kept.stamp(0).inEpoch(epoch)) { raw in
                    deliver(held.event, raw.known(by: held.event.format), member)
                }
            case .gap(let gap): report(gap, member)
            }
        }
        return hasRoom
    }
    func report(_ gap: Gap, _ member: StreamSubscriber) {
        if gap.reason == .lost { observer?.streamLost(self) }
        // How many of them are of the names that a subscription is for is not known.
        let isCounted = member.names.map { $0.count == 1 } ?? true
        let reported =
            isCounted
            ? gap : Gap(gap.sequences, epoch: gap.epoch, count: nil, reason: gap.reason, detail: gap.detail)
        counts.count(reported)
        if let feed = member.feed { return feed.append(reported) }
        sink.gap(reported, in: interface, of: isCounted ? member.names?.first : nil)
    }
    /// An event of a service that has more names than an interface may have: a relay keeps no table without end.
    func reportExcess(_ stamp: Stamp, _ member: StreamSubscriber) {
        // Those that are wanted by name are known.
        if member.names != nil { return }
        let text = "\(address.service) has too many events in \(interface): at most \(ContractLimits.events)"
        let one = stamp.sequence...stamp.sequence
        report(Gap(one, epoch: stamp.epoch, count: 1, reason: .schemaMismatch, detail: text), member)
    }

    // MARK: Doubt

    /// Something was lost. Of a single name the last event may be among what was lost.
    func suspectLoss() {
        for member in members {
            member.machine.suspectLoss()
            orderTickIfNeeded(member)
        }
    }
    private func orderTickIfNeeded(_ member: StreamSubscriber) {
        if !member.hasTick && member.machine.needsTick { orderTick(member) }
    }
    func orderTick(_ member: StreamSubscriber) {
        member.hasTick = true
        owner.loop.schedule(after: owner.timing.tick) { [self] in
            member.hasTick = false
            guard members.contains(member) else { return }
            reportLacking()
            run(member.machine.tick(), member)
        }
    }
}
