/// `Attach` and `Schemas`: what is asked of the owner before its events count, and what it lacks.
extension StreamController {
    // MARK: Attach

    /// Once it is known how the events come.
    func attach(_ member: StreamSubscriber, _ epoch: UInt64, _ after: UInt64, _ session: SessionController) {
        guard session.hasOwner else { return }
        member.generation += 1
        member.waitingAttach = (epoch, after)
        attachWanted(session)
    }
    func sendAttach(_ member: StreamSubscriber, _ session: SessionController) {
        guard session.hasOwner, let (epoch, after) = member.waitingAttach else { return }
        member.waitingAttach = nil
        noteAttaching()
        let generation = member.generation
        askSchemas(session)
        do throws(RelayError) {
            var body = WireWriter()
            let options = AttachOptions(runs: member.machine.ancestry(of: epoch))
            // The same names for all members, as a service keeps one set for each peer.
            try Stream1.write(
                AttachRequest(epoch: epoch, after: after, names: events.asked(names), options: options), into: &body)
            session.ask(
                "Attach", at: path, try Signature(Stream1.attachSignature), body: body.bytes
            ) { [self] session, result in
                if let session { attached(result, member, generation, session) }
            }
        } catch {
            session.fail(error)
        }
    }
    private func attached(
        _ result: Result<BusReply, RelayError>, _ member: StreamSubscriber, _ generation: Int,
        _ session: SessionController
    ) {
        guard member.generation == generation, session.owner != nil else { return }
        defer { session.calls.releaseReplies(session) }
        do {
            let answer = try result.get().read(Stream1.attachmentSignature) { try Stream1.readAttachment(&$0) }
            session.learnFeatures(answer.details.features)
            if !inlets.takesSignals {
                drain(upTo: answer, member, session)
                guard member.generation == generation else { return }
            }
            let action = member.machine.finishAttach(answer)
            member.answered(answer)
            run(action, member, session)
            drainInlet(session)
            member.markCaughtUp()
            session.settle()
        } catch .timedOut {
            // It may be stopped, or its answer was lost: as long as it has the name, it is the one to ask.
            run(member.machine.reattach(), member, session)
        } catch .notFound where refusal == nil && isMissingSomething && !hasLeftOutMissing {
            // Asked before it was known what the owner has: again, without what it lacks.
            hasLeftOutMissing = true
            for member in members where !member.isAnswered { run(member.machine.unanswered(), member, session) }
        } catch .limitsExceeded {
            askAgain(member, generation, session)
        } catch .unavailable {
            // It is stopping, which the bus knows; or it could not do what it had to, which passes.
            session.askForOwner()
            askAgain(member, generation, session)
        } catch {
            refused(error, session)
        }
    }
    /// Without an answer nothing is known of what the owner sends, in whatever state the stream is: also one that is in
    /// step may have lost its attachment.
    private func askAgain(_ member: StreamSubscriber, _ generation: Int, _ session: SessionController) {
        session.schedule(after: session.timing.retry) { [self] session in
            guard member.generation == generation, session.owner != nil else { return }
            run(member.machine.reattach(), member, session)
        }
    }
    /// Nobody wants anything of the owner, if it was asked: it is to send nothing more, and need not stay for it.
    func detach(_ session: SessionController) {
        guard let number = takeAttachment() else { return }
        do throws(RelayError) {
            var body = WireWriter()
            try Stream1.write(AttachRequest(names: []), into: &body)
            session.insist("Attach", at: path, try Signature(Stream1.attachSignature), body: body.bytes) { [self] in
                isLast(number)
            }
        } catch {
            session.fail(error)
        }
    }
    /// What the owner published before its answer is in the ring, and comes before it. The rest comes
    /// afterwards.
    private func drain(upTo answer: Attachment, _ member: StreamSubscriber, _ session: SessionController) {
        if inlets.ring.epoch != answer.epoch { return inletFaulted(session) }
        run(member.machine.beginAttach(answer), member, session)
        drain(through: answer.head, session)
    }
    /// The owner did not answer as a service does that has this interface. The next one may, unless it is a matter of
    /// who asks.
    func refused(_ error: any Error, _ session: SessionController) {
        defer { session.calls.releaseReplies(session) }
        let error = error as? RelayError ?? RelayError(.internalFailure, "\(error)")
        let text = "\(address.service) does not let us follow \(interface): \(error.message)"
        if error.code == .notPermitted { return session.fail(RelayError(error.code, text, cause: error)) }
        for member in members {
            run(member.machine.refused(), member, session)
            session.pages.withdraw(member)
        }
        if refusal != nil { return }
        let refusal = Gap(1...UInt64.max, epoch: 0, count: nil, reason: .schemaMismatch, detail: text)
        self.refusal = refusal
        counts.count(refusal)
        session.sink.lasting(refusal, in: interface, of: nil, isNew: true)
        reportLacking(session)
        session.settle()
    }

    // MARK: Schemas

    /// Unless the owner has reported them, or is being asked.
    func askSchemas(_ session: SessionController) {
        guard schemas == nil, !isAskingSchemas, session.hasOwner else { return }
        isAskingSchemas = true
        let owner = session.ownerGeneration
        session.ask("Schemas", at: path) { [self] session, result in
            guard let session, session.ownerGeneration == owner, session.owner != nil else { return }
            isAskingSchemas = false
            schemasAnswered(result, owner, session)
        }
    }
    private func schemasAnswered(
        _ result: Result<BusReply, RelayError>, _ owner: Int, _ session: SessionController
    ) {
        do {
            let reported = try result.get().read(Stream1.schemasSignature) { try Stream1.readSchemas(&$0) }
            session.sink.schemas(events.adopt(reported), of: interface)
            inlets.ring.schemasArrived(self, session)
            reportLacking(session)
            session.pages.readNext(session)
        } catch .timedOut, .unavailable, .limitsExceeded {
            // No page can be read without: again, unless another `Attach` has asked by then.
            session.schedule(after: session.timing.retry) { [self] session in
                guard session.ownerGeneration == owner else { return }
                if names?.isEmpty != true, refusal == nil { askSchemas(session) }
            }
        } catch {
            refused(error, session)
        }
    }

    // MARK: What the owner lacks

    private func missing(_ member: StreamSubscriber) -> [String] { events.missing(of: member.names) }
    private var isMissingSomething: Bool { members.contains { !missing($0).isEmpty } }
    /// Reports what the present owner lacks: to each subscription once, also to those that came since.
    func reportLacking(_ session: SessionController) {
        func gap(_ name: String) -> Gap {
            let text = "\(address.service) has no event \(name) in \(interface)"
            return Gap(1...UInt64.max, epoch: 0, count: nil, reason: .schemaMismatch, detail: text)
        }
        if let refusal {
            session.sink.lasting(refusal, in: interface, of: nil, isNew: false)
        } else {
            for name in missing(shared) {
                let isNew = reportedMissing.insert(name).inserted
                if isNew { counts.count(gap(name)) }
                session.sink.lasting(gap(name), in: interface, of: name, isNew: isNew)
            }
        }
        for member in members {
            member.report(refusal: refusal, missing: refusal == nil ? missing(member) : [], gap)
        }
        // Later subscribers have to learn of it, too.
        let isLasting = names?.isEmpty != true && (refusal != nil || !reportedMissing.isEmpty)
        if isLasting && !shared.hasTick { orderTick(shared, session) }
    }
}
