import Synchronization

/// Replies with file descriptors: sent while their callers read them.
extension ServiceCore {
    /// A command whose reply has descriptors: it waits to run, or its reply to be sent.
    struct DescriptorWait {
        let peer: String
        /// Those of the reply; nil: it has not run.
        let count: Int?
        let deadline: UInt64
        let completion: @Sendable (DescriptorRoom) -> Void
    }
    enum DescriptorRoom: Sendable {
        /// With what the reply holds, if it is to be sent.
        case free(PeerLedger.Charge?)
        /// There was none in time: why.
        case full(String)
        /// The caller has left.
        case departed
    }

    /// Waits until a command may run whose reply has descriptors. Returns why it must not; nil if it may.
    ///
    /// Not on the loop's thread, and in the place of the caller's commands, which run one at a time.
    func descriptorRefusal(
        of call: IncomingCall, _ connection: BusConnection
    ) async -> (code: RelayError.Code, reason: String)? {
        if !call.wantsReply { return nil }
        if !connection.canTransferDescriptors {
            return (.unavailable, "this bus passes no file descriptors, as the reply of \(call.member) may have")
        }
        if case .full(let reason) = await descriptorRoom(for: call, count: nil, timing.descriptorCall) {
            return (.limitsExceeded, "\(reason); report what was read with \(Stream1.name).Received")
        }
        return nil
    }
    /// Sends a reply with descriptors when there is room. They are closed here in any case.
    func reply(
        to call: IncomingCall, _ connection: BusConnection, _ command: AnyExportedCommand, body: [UInt8],
        _ descriptors: [ReceivedDescriptor]
    ) async {
        defer { for descriptor in descriptors { descriptor.close() } }
        if !call.wantsReply { return }
        switch await descriptorRoom(for: call, count: descriptors.count, timing.reply) {
        case .departed: break
        case .full(let reason):
            let text =
                "\(command.name) has run; its reply with \(descriptors.count) file descriptors was not sent: \(reason)"
            notices.report(.limitsExceeded, .warning, "\(call.sender): \(text)")
            prepareReply(to: call.sender)
            fail(call, ErrorNames.name(for: .tooLarge), text, connection)
        case .free(let charge):
            prepareReply(to: call.sender)
            do throws(RelayError) {
                try deliver(to: call, charge, bytes: body.count, connection) { serial throws(RelayError) in
                    try connection.reply(
                        to: call, command.replySignature, body: body, descriptors: descriptors, serial: serial)
                }
            } catch {
                let text = "\(command.name) has run; its reply cannot be sent: \(error.message)"
                fail(call, ErrorNames.name(for: .internalFailure), text, connection)
            }
        }
    }
    private func descriptorRoom(
        for call: IncomingCall, count: Int?, _ patience: Duration
    ) async -> DescriptorRoom {
        await withCheckedContinuation { continuation in
            loop.execute { [self] in
                let wait = DescriptorWait(
                    peer: call.sender, count: count,
                    deadline: MonotonicClock.deadline(after: patience)
                ) { continuation.resume(returning: $0) }
                // Room is counted as soon as it is found: it is looked for once.
                if state.onLoop.isStopping { return wait.completion(room(for: wait) ?? full(wait)) }
                state.onLoop.descriptorWaits.append(wait)
                grantRoom()
            }
        }
    }

    // MARK: On the loop's thread

    func full(_ wait: DescriptorWait) -> DescriptorRoom {
        .full(refusal(of: wait)?.message ?? "\(name) is stopping")
    }
    private func refusal(of wait: DescriptorWait) -> PeerLedger.Refusal? {
        if !unread.withLock({ $0.holds(.replyDescriptors, wait.peer) }) {
            return ledger.refusal(.replyDescriptors, wait.count ?? 1, for: wait.peer)
        }
        // One reply at a time, however few it has.
        let held = ledger.held(.replyDescriptors, of: wait.peer)
        return PeerLedger.Refusal(
            resource: .replyDescriptors, holder: .peer(wait.peer), held: held, more: wait.count ?? 1, bound: held)
    }
    /// Nil: there is none yet.
    private func room(for wait: DescriptorWait) -> DescriptorRoom? {
        // Its departure was seen: what is counted for it now would be counted for ever.
        if !ledger.isPresent(wait.peer) { return .departed }
        if refusal(of: wait) != nil { return nil }
        guard let count = wait.count else { return .free(nil) }
        return (try? ledger.charge(.replyDescriptors, count, to: wait.peer)).map { .free($0) }
    }
    /// Lets those go on that may now, in their order, and those that have waited long enough.
    private func releaseDescriptors() {
        if state.onLoop.descriptorWaits.isEmpty { return }
        let now = MonotonicClock.now
        var left: [DescriptorWait] = []
        for wait in state.onLoop.descriptorWaits {
            if let room = room(for: wait) {
                wait.completion(room)
            } else if wait.deadline <= now {
                wait.completion(full(wait))
            } else {
                left.append(wait)
            }
        }
        state.onLoop.descriptorWaits = left
    }
    /// Gives room to those that wait for it, commands first. While some still do, it is looked again and again: peers
    /// that report nothing are asked for at the bus.
    func grantRoom() {
        releaseDescriptors()
        guard let connection = connection.onLoop else { return }
        handOut(connection)
        let isIdle = state.onLoop.descriptorWaits.isEmpty && state.onLoop.handouts.isIdle
        if isIdle || state.onLoop.hasRoomTimer { return }
        state.onLoop.hasRoomTimer = true
        askAboutDeliveries(connection)
        loop.schedule(after: timing.roomLook) { [weak self] in
            guard let self else { return }
            state.onLoop.hasRoomTimer = false
            grantRoom()
        }
    }
}
