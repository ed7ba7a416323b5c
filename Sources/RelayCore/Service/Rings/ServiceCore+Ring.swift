import Glibc

/// `OpenRing`: gives the shared memory to peers that may read it.
extension ServiceCore {
    struct RingRequest {
        let call: IncomingCall
        let interface: ExportedInterface
    }
    func openRing(_ call: IncomingCall, _ interface: ExportedInterface, _ connection: BusConnection) {
        guard call.wantsReply else { return }
        guard interface.stream.mayHaveRing, connection.canPassDescriptors else {
            let text = "\(interface.name) has no ring, or this bus passes no descriptors: its events come as signals"
            return fail(call, ErrorNames.name(for: .notFound), text, connection)
        }
        // What peers have is counted by user: so the user is looked up even where anyone may have a ring.
        directory.credentials(of: call.sender, bytes: call.body.count, connection) { [weak self] result in
            guard let self else { return }
            let credentials: PeerCredentials
            do throws(RelayError) {
                credentials = try result.get()
            } catch {
                return refuseRing(call, interface, error.code, error.message, connection)
            }
            // Unknown: it has left, and will not be seen to leave again.
            guard let user = credentials.userID else {
                interface.stream.withRing { $0.requests.refused += 1 }
                let text = "OpenRing is for peers whose user the bus tells"
                return fail(call, ErrorNames.name(for: .notPermitted), text, connection)
            }
            let request = RingRequest(call: call, interface: interface)
            do throws(PeerLedger.Refusal) {
                try state.onLoop.handouts.ask(call.sender, user: user, request, now: MonotonicClock.now)
            } catch { return refuseRing(call, interface, .limitsExceeded, error.message, connection) }
            grantRoom()
        }
    }
    /// Answers as many as may be unread.
    func handOut(_ connection: BusConnection) {
        while let turn = state.onLoop.handouts.next() { answer(turn.request, turn.charge, connection) }
        while let request = state.onLoop.handouts.expired(now: MonotonicClock.now) {
            let refusal = ledger.refusal(.ringReplies, 1, for: request.call.sender)
            let text = refusal?.message ?? "its turn did not come: ask again later"
            refuseRing(request.call, request.interface, .limitsExceeded, text, connection)
        }
    }
    private func answer(_ request: RingRequest, _ charge: PeerLedger.Charge, _ connection: BusConnection) {
        let call = request.call
        settlePage(of: call.sender)
        let wasReading = request.interface.stream.hasReader(call.sender)
        do throws(RelayError) {
            let page = try state.onLoop.pages.page(of: call.sender, ledger)
            let share = try share(for: call.sender, page, request.interface.stream)
            try deliver(to: call, charge, connection) { serial throws(RelayError) in
                try connection.reply(to: call, descriptors: [share.descriptor, page.descriptor], serial: serial)
            }
        } catch {
            // It has no ring, and gets signals.
            if !wasReading { request.interface.stream.closeRing(for: call.sender) }
            if error.code != .limitsExceeded {
                let remedy = "it gets signals instead; the service needs memory and descriptors for rings"
                notices.report(
                    .ringUnavailable, .warning,
                    "no ring of \(request.interface.name) for \(call.sender): \(error.message); \(remedy)",
                    of: Notice.Subject(interface: request.interface.name, peer: call.sender, code: error.code))
            }
            refuseRing(call, request.interface, error.code, error.message, connection)
        }
    }
    /// A description of the ring for one peer.
    ///
    /// - Parameter make: for tests of what fails.
    func share(
        for peer: String, _ page: WaitPage, _ stream: PublishedStream,
        make: (RingWriter) throws(RelayError) -> RingShare = { ring throws(RelayError) in try RingShare(ring) }
    ) throws(RelayError) -> RingShare {
        let wasReading = stream.hasReader(peer)
        let ring = try stream.openRing(for: peer, page, waker)
        do throws(RelayError) { return try make(ring) } catch {
            // A process of this user has changed the file's mode. To change it back would take a lock that such a
            // process can hold for ever.
            guard (error.cause as? SystemError)?.code == EACCES, stream.replaceRing(ring, for: peer) else {
                throw error
            }
            do throws(RelayError) { return try make(try stream.openRing(for: peer, page, waker)) } catch {
                stream.giveUpReplacement(for: peer, wasReading: wasReading)
                throw error
            }
        }
    }
    private func refuseRing(
        _ call: IncomingCall, _ interface: ExportedInterface, _ code: RelayError.Code, _ message: String,
        _ connection: BusConnection
    ) {
        interface.stream.withRing { $0.requests.refused += 1 }
        refuse(call, code, message, connection)
    }
    /// A peer may not read an interface any more, or does not want to: what it asked for before is refused.
    func withdrawRing(
        of peer: String, _ interface: ExportedInterface, _ code: RelayError.Code, _ text: String,
        _ connection: BusConnection
    ) {
        let requests = state.onLoop.handouts.withdraw(peer) { $0.interface.name == interface.name }
        for request in requests { refuseRing(request.call, interface, code, text, connection) }
    }
    /// A peer does not read an interface's ring: what it asked for before is no longer wanted, either.
    func giveBackRing(_ call: IncomingCall, _ interface: ExportedInterface, _ connection: BusConnection) {
        withdrawRing(of: call.sender, interface, .cancelled, "CloseRing came behind it", connection)
        interface.stream.closeRing(for: call.sender, isReturned: true)
        reply(to: call, connection)
    }
    /// A peer that has sealed its page has mapped it, and is woken from now on. Nobody looks at the page before that.
    func settlePage(of peer: String) {
        guard let page = state.onLoop.pages.page(of: peer), !page.isSettled, page.settle() else { return }
        for interface in interfaces { interface.stream.wakeReader(peer) }
    }
    /// A peer has left: nobody waits for it, or looks at its page any more.
    func closeRings(of peer: String) {
        state.onLoop.handouts.depart(peer)
        guard state.onLoop.pages.depart(peer) != nil else { return }
        for interface in interfaces { interface.stream.closeRing(for: peer, hasLeft: true) }
    }
}
