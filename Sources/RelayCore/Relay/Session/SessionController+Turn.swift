/// What a session hands to its parts in a turn: what is known of the owner, and the ways to ask it.
extension SessionController {
    var streams: [StreamController] { state.onLoop.streamsInOrder }
    func stream(of member: StreamSubscriber) -> StreamController? { streams.first { $0.members.contains(member) } }

    /// A job for later; never after the session's end.
    @discardableResult
    func schedule(after delay: Duration, _ job: @escaping @Sendable (SessionController) -> Void) -> UInt64 {
        loop.schedule(after: delay) { [weak self] in if let self { job(self) } }
    }
    /// A loss in one stream: another one of this bus may lack something, too. Not of an inlet that shows it.
    func suspectLoss(but stream: StreamController) {
        for other in streams where other !== stream && !other.inlets.reportsLoss { other.suspectLoss(self) }
    }

    // MARK: What is known

    /// The verified owner's unique name: the only one that counts.
    package var owner: String? { state.onLoop.session.owner }
    /// This relay's unique name.
    package var ownName: String? { state.onLoop.connection?.uniqueName }
    var isConnected: Bool { state.onLoop.connection != nil }
    /// There is a verified owner, and a bus by which to ask it.
    var hasOwner: Bool { isConnected && owner != nil }
    /// Counts what was learnt of the owner: an answer counts only while its question's generation is the present one.
    var ownerGeneration: Int { state.onLoop.session.generation }
    var canPassDescriptors: Bool { state.onLoop.connection?.canPassDescriptors ?? false }
    var features: Set<StreamFeature> { state.onLoop.features }
    func learnFeatures(_ features: Set<StreamFeature>) { state.onLoop.features = features }
    var callRoute: ServiceSession<HeldSignal>.CallRoute { state.onLoop.session.callRoute }
    /// A new machine learns what is known of the owner.
    func introduceOwner(to machine: inout StreamSubscriber.Machine) {
        let session = state.onLoop.session
        if session.isOwnershipKnown { machine.ownerAbsent() }
        if session.owner != nil || session.candidate != nil { _ = machine.ownerAppeared(isNew: false) }
    }

    // MARK: Asking

    /// Asks the owner, by a method of `Stream1`. Without effect while there is none.
    ///
    /// - Parameter completion: in a turn; its session is nil when that is gone.
    func ask(
        _ method: String, at path: String, _ signature: Signature = .empty, body: [UInt8] = [],
        descriptors: [ReceivedDescriptor] = [], timeout: Duration? = nil,
        _ completion: @escaping @Sendable (SessionController?, Result<BusReply, RelayError>) -> Void
    ) {
        guard let connection = state.onLoop.connection, let owner else { return }
        var call = MethodCall(
            to: owner, path: path, interface: Stream1.name, member: method, signature: signature, body: body)
        call.descriptors = descriptors
        call.isConfirmed = Stream1.confirmed.contains(method)
        noteWaiting()
        connection.send(call, timeout: timeout ?? timing.answer) { [weak self] result in completion(self, result) }
    }
    /// The same, until the owner has answered: what it sends, or stays for, rests on it.
    ///
    /// - Parameters:
    ///   - isWanted: whether it is to be repeated.
    ///   - answered: the owner has answered, also with a refusal that no repetition would change; with whether an
    ///     earlier one was not answered.
    func insist(
        _ method: String, at path: String, _ signature: Signature = .empty, body: [UInt8] = [],
        isRepeated: Bool = false,
        while isWanted: @escaping @Sendable () -> Bool,
        _ answered: @escaping @Sendable (SessionController, _ isRepeated: Bool) -> Void = { _, _ in }
    ) {
        let generation = ownerGeneration
        ask(method, at: path, signature, body: body) { session, result in
            guard let session, session.ownerGeneration == generation else { return }
            guard case .failure(let error) = result,
                [.timedOut, .unavailable, .limitsExceeded, .internalFailure].contains(error.code)
            else { return answered(session, isRepeated) }
            session.schedule(after: session.timing.retry) { session in
                guard session.ownerGeneration == generation, isWanted() else { return }
                session.insist(
                    method, at: path, signature, body: body, isRepeated: true, while: isWanted, answered)
            }
        }
    }
    /// Sends a call. False, and without effect, while there is no bus.
    func send(
        _ call: MethodCall, _ waiting: WaitingCall,
        _ completion: @escaping @Sendable (SessionController?, Result<BusReply, RelayError>) -> Void
    ) -> Bool {
        guard let connection = state.onLoop.connection else { return false }
        noteWaiting()
        waiting.ticket.connection = connection
        waiting.ticket.serial = connection.send(call, timeout: waiting.timeLeft) { [weak self] result in
            completion(self, result)
        }
        return true
    }

    /// Reports to the service that a call's caller has given up. Past the calls that wait there.
    func sendCancel(_ call: MethodCall, _ ticket: CallTicket) {
        guard let serial = ticket.serial, let connection = ticket.connection else { return }
        var body = WireWriter()
        body.uint32(serial)
        do throws(RelayError) {
            let header = MessageHeader.methodCall(
                path: call.path, interface: Stream1.name, member: "Cancel", destination: call.destination,
                signature: try Signature(Stream1.cancelSignature), flags: [.noReplyExpected, .noAutoStart])
            try connection.send(header, body: body.bytes)
        } catch {
            // The connection is gone, which the service sees.
        }
    }

    /// Reports to a service that a reply is no longer on its way.
    package func replyReceived(from sender: String, serial: UInt32) {
        state.onLoop.connection?.sendReceived(serial, to: sender)
    }

    /// Whether so many file descriptors can be had. If not, that is reported once, until they can.
    func hasRoom(forDescriptors count: Int, _ purpose: String) -> Bool {
        guard let error = SpareDescriptors.error(for: count, purpose) else {
            state.onLoop.hasReportedLack = false
            return true
        }
        if !state.onLoop.hasReportedLack {
            state.onLoop.hasReportedLack = true
            sink.connectionFailed(error)
        }
        return false
    }

    // MARK: Rules

    /// Requests a rule of the bus. Only a refusal that is for ever ends the relay: it does not permit the rule, or does
    /// not understand it.
    ///
    /// - Parameters:
    ///   - purpose: what the bus is to do by it.
    ///   - answered: in a turn, with whether the bus has it. If not, it has no room for it now.
    func addMatch(
        _ rule: MatchRule, _ purpose: String,
        _ answered: @escaping @Sendable (SessionController, _ isTaken: Bool) -> Void
    ) {
        guard let connection = state.onLoop.connection else { return }
        connection.addMatch(rule) { [weak self, weak connection] result in
            guard let self, let connection, state.onLoop.connection === connection else { return }
            switch result {
            case .success: answered(self, true)
            // No answer to a rule that nobody wants any more: one that is wanted is asked for again.
            case .failure(let error) where [.unavailable, .timedOut].contains(error.code): break
            case .failure(let error) where [.notPermitted, .invalidArgument].contains(error.code):
                fail(RelayError(error.code, "the bus refuses to \(purpose): \(error.message)", cause: error))
            case .failure: answered(self, false)
            }
        }
    }
    func removeMatch(_ rule: MatchRule) { state.onLoop.connection?.removeMatch(rule) }
}
