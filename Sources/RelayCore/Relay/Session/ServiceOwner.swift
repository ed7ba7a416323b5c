import RelayWire

/// The service's owner as a relay knows it, and the ways to ask it: the connection to the bus, and who counts on that.
///
/// - Isolation: in a turn of the loop.
final class ServiceOwner: Sendable {
    struct State {
        var connection: BusConnection?
        /// The service's owner, and what is held of it until it is verified.
        var session = ServiceSession<HeldSignal>(
            countLimit: StreamSubscriber.Machine.heldLimit,
            costLimit: StreamSubscriber.Machine.heldCostLimit)
        /// What the present owner can do beyond what every service does; empty before its first answer to `Attach`.
        var features: Set<StreamFeature> = []
        /// What keeps the relay from rings and replays was reported.
        var hasReportedLack = false
    }
    /// Not in the state, every look at which would count the reference.
    struct Handler {
        weak var value: (any ServiceOwnerHandler)?
    }
    let service: String
    let loop: BusLoop
    let timing: RelayTiming
    private let sink: any SessionSink
    let state: LoopBound<State>
    /// None before the relay is activated: there is nothing that it is to hear.
    let handler: LoopBound<Handler>

    init(_ service: String, _ loop: BusLoop, _ timing: RelayTiming, _ sink: any SessionSink) {
        (self.service, self.loop, self.timing, self.sink) = (service, loop, timing, sink)
        (state, handler) = (LoopBound(State(), on: loop), LoopBound(Handler(), on: loop))
    }

    // MARK: What is known

    var connection: BusConnection? { state.onLoop.connection }
    var canPassDescriptors: Bool { connection?.canPassDescriptors ?? false }
    /// The verified owner's unique name: the only one that counts.
    var name: String? { state.onLoop.session.owner }
    /// There is a verified owner, and a bus by which to ask it.
    var isPresent: Bool { connection != nil && name != nil }
    /// Counts what was learnt of the owner: an answer counts only while its question's generation is the present one.
    var generation: Int { state.onLoop.session.generation }
    var features: Set<StreamFeature> { state.onLoop.features }
    func learn(_ features: Set<StreamFeature>) { state.onLoop.features = features }
    var callRoute: ServiceSession<HeldSignal>.CallRoute { state.onLoop.session.callRoute }
    /// A new machine learns what is known of the owner.
    func introduce(to machine: inout StreamSubscriber.Machine) {
        let session = state.onLoop.session
        if session.isOwnershipKnown { machine.ownerAbsent() }
        if session.owner != nil || session.candidate != nil { _ = machine.ownerAppeared(isNew: false) }
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

    // MARK: Doubt

    /// Something begins to wait.
    func noteWaiting() { follow(state.onLoop.session.beganWaiting()) }
    /// The owner does not answer, and nothing was heard of its departure.
    func askForOwner() { follow(state.onLoop.session.ownerOwes()) }
    private func follow(_ inquiry: ServiceSession<HeldSignal>.Inquiry) {
        if inquiry != .ignored { handler.onLoop.value?.follow(inquiry) }
    }
    /// Retrying will not help: the relay ends.
    func fail(_ error: RelayError) { handler.onLoop.value?.fail(error) }

    // MARK: Asking

    /// Asks the owner, by a method of `Stream1`. Without effect while there is none.
    ///
    /// - Parameter completion: in a turn.
    func ask(
        _ method: String, at path: String, _ signature: Signature = .empty, body: [UInt8] = [],
        descriptors: [ReceivedDescriptor] = [], timeout: Duration? = nil,
        _ completion: @escaping @Sendable (Result<BusReply, RelayError>) -> Void
    ) {
        guard let connection, let name else { return }
        var call = MethodCall(
            to: name, path: path, interface: Stream1.name, member: method, signature: signature, body: body)
        call.descriptors = descriptors
        call.isConfirmed = Stream1.confirmed.contains(method)
        noteWaiting()
        connection.send(call, timeout: timeout ?? timing.answer, completion: completion)
    }
    /// The same, until the owner has answered: what it sends, or stays for, rests on it.
    ///
    /// - Parameters:
    ///   - isWanted: whether it is to be repeated.
    ///   - answered: the owner has answered, also with a refusal that no repetition would change; with whether an
    ///     earlier one was not answered.
    func insist(
        _ method: String, at path: String, _ signature: Signature = .empty, body: [UInt8] = [],
        isRepeated: Bool = false, while isWanted: @escaping @Sendable () -> Bool,
        _ answered: @escaping @Sendable (_ isRepeated: Bool) -> Void = { _ in }
    ) {
        let generation = generation
        ask(method, at: path, signature, body: body) { [self] result in
            guard self.generation == generation else { return }
            guard case .failure(let error) = result,
                [.timedOut, .unavailable, .limitsExceeded, .internalFailure].contains(error.code)
            else { return answered(isRepeated) }
            loop.schedule(after: timing.retry) { [self] in
                guard self.generation == generation, isWanted() else { return }
                insist(method, at: path, signature, body: body, isRepeated: true, while: isWanted, answered)
            }
        }
    }
    /// Asks the bus to start the service.
    ///
    /// - Parameter failed: in a turn; it cannot, and the service is still absent.
    func start(_ failed: @escaping @Sendable (RelayError) -> Void) {
        guard let connection else { return }
        do throws(RelayError) {
            connection.send(try .start(of: service), timeout: timing.start) { [self] result in
                guard case .failure(let error) = result, self.connection === connection, case .nobody = callRoute
                else { return }
                failed(error)
            }
        } catch {
            fail(error)
        }
    }

    // MARK: Rules

    /// Requests a rule of the bus. Only a refusal that is for ever ends the relay: it does not permit the rule, or does
    /// not understand it.
    ///
    /// - Parameters:
    ///   - purpose: what the bus is to do by it.
    ///   - answered: in a turn, with whether the bus has it. If not, it has no room for it now.
    func addMatch(_ rule: MatchRule, _ purpose: String, _ answered: @escaping @Sendable (_ isTaken: Bool) -> Void) {
        guard let connection else { return }
        connection.addMatch(rule) { [self, weak connection] result in
            guard let connection, self.connection === connection else { return }
            switch result {
            case .success: answered(true)
            // No answer to a rule that nobody wants any more: one that is wanted is asked for again.
            case .failure(let error) where [.unavailable, .timedOut].contains(error.code): break
            case .failure(let error) where [.notPermitted, .invalidArgument].contains(error.code):
                fail(RelayError(error.code, "the bus refuses to \(purpose): \(error.message)", cause: error))
            case .failure: answered(false)
            }
        }
    }
    func removeMatch(_ rule: MatchRule) { connection?.removeMatch(rule) }
}

/// What a relay does about its owner, where a part of it has found out something.
protocol ServiceOwnerHandler: AnyObject, Sendable {
    /// The bus is to be asked again who has the name.
    func follow(_ inquiry: ServiceSession<HeldSignal>.Inquiry)
    /// Retrying will not help.
    func fail(_ error: RelayError)
}

/// A signal of an owner that is not verified yet, copied out of its message.
struct HeldSignal {
    let stream: StreamController
    /// Not one of `Stream1`.
    let isEvent: Bool
    let member: String
    let signature: [UInt8]
    let body: [UInt8]
}
