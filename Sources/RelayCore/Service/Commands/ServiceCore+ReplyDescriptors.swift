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
        /// With the serial that the reply has to have, if it is to be sent.
        case free(UInt32)
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
        if case .full(let reason) = await descriptorRoom(for: call, count: nil, timing.descriptorCall, connection) {
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
        switch await descriptorRoom(for: call, count: descriptors.count, timing.reply, connection) {
        case .departed: break
        case .full(let reason):
            let text =
                "\(command.name) has run; its reply with \(descriptors.count) file descriptors was not sent: \(reason)"
            notices.report(.limitsExceeded, .warning, "\(call.sender): \(text)")
            prepareReply(to: call.sender)
            fail(call, ErrorNames.name(for: .tooLarge), text, connection)
        case .free(let serial):
            prepareReply(to: call.sender)
            do throws(RelayError) {
                try connection.reply(
                    to: call, command.replySignature, body: body, descriptors: descriptors, serial: serial)
                count(call, body.count, connection)
            } catch {
                loop.execute { [self] in
                    state.onLoop.replyDescriptors.settled(serial, of: call.sender)
                    releaseDescriptors()
                }
                let text = "\(command.name) has run; its reply cannot be sent: \(error.message)"
                fail(call, ErrorNames.name(for: .internalFailure), text, connection)
            }
        }
    }
    private func descriptorRoom(
        for call: IncomingCall, count: Int?, _ patience: Duration, _ connection: BusConnection
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
                releaseDescriptors()
                lookForDescriptors(connection)
            }
        }
    }

    // MARK: On the loop's thread

    /// `Received`: a caller has read the reply of a serial. At any object: what is counted is the connection's.
    func received(_ call: IncomingCall, _ connection: BusConnection) {
        guard hasSignature(Stream1.receivedSignature, call, connection) else { return }
        let serial = call.body.withUnsafeBytes { body in
            var reader = WireReader(body)
            return try? reader.uint32()
        }
        if let serial {
            state.onLoop.replyDescriptors.received(serial, by: call.sender)
            releaseDescriptors()
        }
        reply(to: call, connection)
    }
    func forgetDescriptors(of peer: String) {
        state.onLoop.replyDescriptors.depart(peer)
        releaseDescriptors()
    }
    func full(_ wait: DescriptorWait) -> DescriptorRoom {
        .full(state.onLoop.replyDescriptors.refusal(wait.peer)?.message ?? "\(name) is stopping")
    }
    /// Nil: there is none yet.
    private func room(for wait: DescriptorWait) -> DescriptorRoom? {
        // Its departure was seen: what is counted for it now would be counted for ever.
        if !ledger.isPresent(wait.peer) { return .departed }
        guard let count = wait.count else {
            return state.onLoop.replyDescriptors.refusal(wait.peer) == nil ? .free(0) : nil
        }
        // As the connection's own, of the upper half. Of the system's random numbers: nobody knows the next one.
        let serial = UInt32.random(in: 0x8000_0000...UInt32.max)
        let isSent = state.onLoop.replyDescriptors.send(count, to: wait.peer, serial: serial)
        return isSent ? .free(serial) : nil
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
    /// Looks again and again while somebody waits: callers that report nothing are asked for at the bus.
    private func lookForDescriptors(_ connection: BusConnection) {
        if state.onLoop.descriptorWaits.isEmpty || state.onLoop.hasDescriptorTimer { return }
        askForDescriptors(connection)
        state.onLoop.hasDescriptorTimer = true
        loop.schedule(after: timing.descriptorLook) { [weak self] in
            guard let self else { return }
            state.onLoop.hasDescriptorTimer = false
            releaseDescriptors()
            lookForDescriptors(connection)
        }
    }
    private func askForDescriptors(_ connection: BusConnection) {
        let source = state.onLoop.descriptorSource
        if source == .nobody { return }
        for (peer, serial) in state.onLoop.replyDescriptors.questions() {
            guard let request = try? BusFigures.question(to: source, about: peer) else { continue }
            connection.send(request, timeout: timing.figures) { [weak self] result in
                guard let self else { return }
                var isRead = false
                do throws(RelayError) {
                    // The question came behind the reply: what the bus does not hold then has been read.
                    isRead = try BusFigures.held(for: peer, result.get(), from: source) == 0
                } catch {
                    let isTransient = [.timedOut, .unavailable, .cancelled].contains(error.code)
                    if !isTransient && state.onLoop.descriptorSource == source {
                        state.onLoop.descriptorSource = source == .connection ? .peers : .nobody
                    }
                }
                state.onLoop.replyDescriptors.answered(peer, serial, isRead: isRead)
                if isRead { releaseDescriptors() }
            }
        }
    }
}
