import Synchronization
import RelayWire

/// Who has the well-known names that are called here.
extension BusConnection {
    /// Learns who has a name from now on: asks the bus to announce changes, and who has it now. Before a call to that
    /// name is sent, so that both come before its reply. The handler sees these announcements, too.
    func follow(_ name: String) {
        guard BusNames.isWellKnownName(name), pending.withLock({ $0.owners.follow(name) }) else { return }
        announce(name)
        askOwner(of: name)
    }
    private func announce(_ name: String) {
        isFollowing.store(true, ordering: .relaxed)
        addMatch(.owner(of: name)) { [weak self] result in
            if case .failure = result { self?.pending.withLock { $0.owners.isSilent(name) } }
        }
    }
    /// Asks the bus who has a name. The completion comes exactly once, on the loop's thread, after the answer counts
    /// for replies.
    package func askOwner(of name: String, completion: @escaping @Sendable (NameOwnership) -> Void) {
        if pending.withLock({ $0.owners.follow(name) }) { announce(name) }
        sendQuestion(name, completion)
    }
    private func askOwner(of name: String) {
        guard pending.withLock({ $0.owners.ask(name) }) else { return }
        sendQuestion(name) { [weak self] ownership in
            guard let self, ownership == .unknown, pending.withLock({ $0.holdsAnswers(for: name) }) else { return }
            // Answers wait for it, and end with their calls.
            loop.schedule(after: timing.pause) { [weak self] in self?.askOwner(of: name) }
        }
    }
    private func sendQuestion(_ name: String, _ completion: @escaping @Sendable (NameOwnership) -> Void) {
        var body = WireWriter()
        do throws(RelayError) {
            try body.string(name, named: "the name")
            let question = MethodCall.toBus("GetNameOwner", try Signature("s"), body: body.bytes)
            send(question, timeout: timing.answer) { [weak self] reply in
                let ownership = NameOwnership(reply)
                self?.learn(ownership, of: name)
                completion(ownership)
            }
        } catch {
            loop.execute { completion(.unknown) }
        }
    }
    private func learn(_ ownership: NameOwnership, of name: String) {
        complete(
            pending.withLock { pending in
                pending.owners.answered(ownership, of: name)
                // Whatever is held came before this answer, which the bus gave after it had passed them on.
                return pending.judge(name, isLastWord: ownership != .unknown)
            })
    }
    /// The bus announced something: a change that matters for replies, perhaps.
    func noteOwnerChange(_ message: borrowing ReceivedMessage) {
        guard let change = OwnerChange(message), pending.withLock({ $0.owners.isFollowed(change.name) }) else { return }
        complete(
            pending.withLock { pending in
                pending.owners.announced(change)
                return pending.judge(change.name, isLastWord: false)
            })
    }
    /// Announcements may have been lost.
    package func doubtOwners() { pending.withLock { $0.owners.doubt() } }

    /// A reply has come of a peer that is not known to have the name that was called.
    func hold(_ answer: PendingCalls.HeldAnswer, for serial: UInt32, to name: String) -> Bool {
        guard pending.withLock({ $0.hold(answer, for: serial) }) else { return false }
        askOwner(of: name)
        return true
    }
    private func complete(_ judgement: PendingCalls.Judgement) {
        for (entry, answer) in judgement.ended {
            loop.cancel(timer: entry.timer)
            entry.completion(answer.result)
        }
        for sender in judgement.dropped { dropReply(of: sender) }
    }
    func dropReply(of sender: String?) {
        strays.add(1, ordering: .relaxed)
        handler?.replyDropped(from: sender)
    }
}
