import RelayWire

/// `Attach` and `Schemas`: what is asked of the owner before its events count, and what it lacks.
extension StreamController {
    // MARK: Attach

    /// Once it is known how the events come.
    func attach(_ member: StreamSubscriber, _ epoch: UInt64, _ after: UInt64) {
        guard owner.isPresent else { return }
        member.generation += 1
        member.waitingAttach = (epoch, after)
        choose { $0.attachWanted() }
    }
    func sendAttach(_ member: StreamSubscriber) {
        guard owner.isPresent, let (epoch, after) = member.waitingAttach else { return }
        member.waitingAttach = nil
        present.onLoop.isAttached = true
        attachments += 1
        let generation = member.generation
        askSchemas()
        do throws(RelayError) {
            var body = WireWriter()
            let options = AttachOptions(runs: member.machine.ancestry(of: epoch))
            // The same names for all members, as a service keeps one set for each peer.
            try Stream1.write(
                AttachRequest(epoch: epoch, after: after, names: events.asked(names), options: options), into: &body)
            owner.ask("Attach", at: path, try Signature(Stream1.attachSignature), body: body.bytes) { [self] result in
                attached(result, member, generation)
            }
        } catch {
            owner.fail(error)
        }
    }
    private func attached(_ result: Result<BusReply, RelayError>, _ member: StreamSubscriber, _ generation: Int) {
        guard member.generation == generation, owner.name != nil else { return }
        defer { observer?.streamAdvanced() }
        do {
            let answer = try result.get().read(Stream1.attachmentSignature) { try Stream1.readAttachment(&$0) }
            owner.learn(answer.details.features)
            if !inlets.takesSignals {
                drain(upTo: answer, member)
                guard member.generation == generation else { return }
            }
            let action = member.machine.finishAttach(answer)
            member.answered(answer)
            run(action, member)
            drainInlet()
            member.markCaughtUp()
            observer?.streamSettled()
        } catch .timedOut {
            // It may be stopped, or its answer was lost: as long as it has the name, it is the one to ask.
            run(member.machine.reattach(), member)
        } catch .notFound where isMissingSomething && present.onLoop.refusal == nil && !present.onLoop.hasLeftOutMissing
        {
            // Asked before it was known what the owner has: again, without what it lacks.
            present.onLoop.hasLeftOutMissing = true
            for member in members where !member.isAnswered { run(member.machine.unanswered(), member) }
        } catch .limitsExceeded {
            askAgain(member, generation)
        } catch .unavailable {
            // It is stopping, which the bus knows; or it could not do what it had to, which passes.
            owner.askForOwner()
            askAgain(member, generation)
        } catch {
            refused(error)
        }
    }
    /// Without an answer nothing is known of what the owner sends, in whatever state the stream is: also one that is in
    /// step may have lost its attachment.
    private func askAgain(_ member: StreamSubscriber, _ generation: Int) {
        owner.loop.schedule(after: owner.timing.retry) { [self] in
            guard member.generation == generation, owner.name != nil else { return }
            run(member.machine.reattach(), member)
        }
    }
    /// Nobody wants anything of the owner, if it was asked: it is to send nothing more, and need not stay for it.
    func detach() {
        if !present.onLoop.isAttached { return }
        present.onLoop.isAttached = false
        let number = attachments
        do throws(RelayError) {
            var body = WireWriter()
            try Stream1.write(AttachRequest(names: []), into: &body)
            owner.insist("Attach", at: path, try Signature(Stream1.attachSignature), body: body.bytes) { [self] in
                attachments == number
            }
        } catch {
            owner.fail(error)
        }
    }
    /// What the owner published before its answer is in the ring, and comes before it. The rest comes
    /// afterwards.
    private func drain(upTo answer: Attachment, _ member: StreamSubscriber) {
        if inlets.ring.epoch != answer.epoch { return inletFaulted() }
        run(member.machine.beginAttach(answer), member)
        drain(through: answer.head)
    }
    /// The owner did not answer as a service does that has this interface. The next one may, unless it is a matter of
    /// who asks.
    func refused(_ error: any Error) {
        defer { observer?.streamAdvanced() }
        let error = error as? RelayError ?? RelayError(.internalFailure, "\(error)")
        let text = "\(address.service) does not let us follow \(interface): \(error.message)"
        if error.code == .notPermitted { return owner.fail(RelayError(error.code, text, cause: error)) }
        for member in members {
            run(member.machine.refused(), member)
            pages.withdraw(member)
        }
        if present.onLoop.refusal != nil { return }
        let refusal = Gap(1...UInt64.max, epoch: 0, count: nil, reason: .schemaMismatch, detail: text)
        present.onLoop.refusal = refusal
        counts.count(refusal)
        sink.lasting(refusal, in: interface, of: nil, isNew: true)
        reportLacking()
        observer?.streamSettled()
    }

    // MARK: Schemas

    /// Unless the owner has reported them, or is being asked.
    func askSchemas() {
        guard schemas == nil, !present.onLoop.isAskingSchemas, owner.isPresent else { return }
        present.onLoop.isAskingSchemas = true
        let generation = owner.generation
        owner.ask("Schemas", at: path) { [self] result in
            guard owner.generation == generation, owner.name != nil else { return }
            present.onLoop.isAskingSchemas = false
            schemasAnswered(result, generation)
        }
    }
    private func schemasAnswered(_ result: Result<BusReply, RelayError>, _ generation: Int) {
        do {
            let reported = try result.get().read(Stream1.schemasSignature) { try Stream1.readSchemas(&$0) }
            sink.schemas(events.adopt(reported), of: interface)
            inlets.ring.schemasArrived(self)
            reportLacking()
            pages.readNext()
        } catch .timedOut, .unavailable, .limitsExceeded {
            // No page can be read without: again, unless another `Attach` has asked by then.
            owner.loop.schedule(after: owner.timing.retry) { [self] in
                guard owner.generation == generation else { return }
                if names?.isEmpty != true, present.onLoop.refusal == nil { askSchemas() }
            }
        } catch {
            refused(error)
        }
    }

    // MARK: What the owner lacks

    private func missing(_ member: StreamSubscriber) -> [String] { events.missing(of: member.names) }
    private var isMissingSomething: Bool { members.contains { !missing($0).isEmpty } }
    /// Reports what the present owner lacks: to each subscription once, also to those that came since.
    func reportLacking() {
        func gap(_ name: String) -> Gap {
            let text = "\(address.service) has no event \(name) in \(interface)"
            return Gap(1...UInt64.max, epoch: 0, count: nil, reason: .schemaMismatch, detail: text)
        }
        let refusal = present.onLoop.refusal
        if let refusal {
            sink.lasting(refusal, in: interface, of: nil, isNew: false)
        } else {
            for name in missing(shared) {
                let isNew = present.onLoop.reportedMissing.insert(name).inserted
                if isNew { counts.count(gap(name)) }
                sink.lasting(gap(name), in: interface, of: name, isNew: isNew)
            }
        }
        for member in members {
            member.report(refusal: refusal, missing: refusal == nil ? missing(member) : [], gap)
        }
        // Later subscribers have to learn of it, too.
        let isLasting = names?.isEmpty != true && (refusal != nil || !present.onLoop.reportedMissing.isEmpty)
        if isLasting && !shared.hasTick { orderTick(shared) }
    }
}
