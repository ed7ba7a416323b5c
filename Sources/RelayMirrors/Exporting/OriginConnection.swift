import RelayCore
import Synchronization
import RelayWire

/// A connection to the bus of an origin: who owns the origin's name, what it is asked, and that it has news.
final class OriginConnection: BusHandler {
    private struct State {
        var connection: BusConnection?
        var owner: String?
        var isOpen = true
        var live = LiveEvents()
    }
    private let state = Mutex(State())
    let service: String
    /// Whose signals are heard; nil: none.
    private let interface: String?
    /// Rings with each signal of the origin, each change of its owner, and the connection's end.
    let bell: Bell
    private let timing: ExporterTiming

    private init(_ service: String, _ interface: String?, _ bell: Bell, _ timing: ExporterTiming) {
        (self.service, self.interface, self.bell, self.timing) = (service, interface, bell, timing)
    }
    /// - Parameter interface: whose signals ring the bell; nil: none.
    static func open(
        _ bus: Bus, on loop: BusLoop, service: String, interface: String?, _ bell: Bell, _ timing: ExporterTiming
    ) async throws(RelayError) -> OriginConnection {
        let origin = OriginConnection(service, interface, bell, timing)
        do {
            let connection = try await BusConnection.connect(to: bus, on: loop, handler: origin)
            origin.state.withLock { $0.connection = connection }
            var rules = [MatchRule.owner(of: service)]
            if let interface {
                let path = Stream1.path(of: interface)
                rules += [interface, Stream1.name].map { MatchRule(sender: service, path: path, interface: $0) }
            }
            for rule in rules {
                _ = try await withCheckedThrowingContinuation { continuation in
                    connection.addMatch(rule) { continuation.resume(with: $0) }
                }
            }
            await origin.askOwner()
            return origin
        } catch { throw RelayError(asking: "the bus", error) }
    }
    deinit { state.withLock { $0.connection }?.close() }

    /// The unique name of the origin; nil: it is not there.
    var owner: String? { state.withLock { $0.owner } }
    var isOpen: Bool { state.withLock { $0.isOpen } }
    /// An announcement may have been lost.
    func askOwner() async {
        guard let connection = state.withLock({ $0.connection }) else { return }
        await withCheckedContinuation { continuation in
            connection.askOwner(of: service) { [weak self] ownership in
                switch ownership {
                case .owner(let name): self?.learn(name)
                case .nobody: self?.learn(nil)
                case .unknown: break
                }
                continuation.resume()
            }
        }
    }
    private func learn(_ owner: String?) {
        let isNew = state.withLock { state in
            defer { state.owner = owner }
            if state.owner == owner { return false }
            state.live.ask()
            return true
        }
        if isNew { bell.ring() }
    }

    // MARK: Live events

    /// What the present owner's signals have brought behind a sequence.
    func live(after sequence: UInt64) -> LiveEvents.News { state.withLock { $0.live.take(after: sequence) } }
    /// The last sequence that signals have brought; 0: none has.
    var liveHead: UInt64 { state.withLock { $0.live.head } }
    /// A signal may have been lost.
    func doubtLive() { state.withLock { $0.live.ask() } }

    // MARK: Asking

    /// Whether the bus takes descriptors from it.
    var passesDescriptors: Bool { state.withLock { $0.connection }?.canPassDescriptors ?? false }

    /// Asks the origin, by a method of `Stream1`, and reads its answer.
    ///
    /// - Parameter answer: its signature.
    func ask<Answer>(
        _ method: String, at path: String, _ signature: String = "", returning answer: String,
        passing descriptors: [ReceivedDescriptor] = [], arguments: (inout WireWriter) throws -> Void = { _ in },
        _ read: (inout WireReader) throws -> Answer
    ) async throws(RelayError) -> Answer {
        let (connection, owner) = state.withLock { ($0.connection, $0.owner) }
        guard let connection, let owner else {
            throw RelayError(.unavailable, "\(service) is not on the bus: its events are exported when it runs")
        }
        do {
            var body = WireWriter()
            try arguments(&body)
            var call = MethodCall(
                to: owner, path: path, interface: Stream1.name, member: method, signature: try Signature(signature),
                body: body.takeBytes(), flags: .noAutoStart)
            call.descriptors = descriptors
            call.isConfirmed = Stream1.confirmed.contains(method)
            return try await connection.call(call, timeout: timing.answer).read(answer, read)
        } catch { throw RelayError(asking: service, error) }
    }
    /// Reads a page that the origin has sent beside the bus.
    func read<Answer>(
        page body: [UInt8], _ read: (inout WireReader) throws -> Answer
    ) throws(RelayError) -> Answer {
        try BusReply(sender: owner ?? service, signature: Stream1.pageSignature, body: body).read(
            Stream1.pageSignature, read)
    }
    /// Owns a name as long as this connection lives.
    func own(_ name: String) async throws(RelayError) -> Bool {
        guard let connection = state.withLock({ $0.connection }) else { return false }
        do {
            var body = WireWriter()
            try body.string(name)
            // DBUS_NAME_FLAG_DO_NOT_QUEUE.
            body.uint32(4)
            let answer = try await connection.call(.toBus("RequestName", try Signature("su"), body: body.takeBytes()))
            // DBUS_REQUEST_NAME_REPLY_PRIMARY_OWNER.
            return try answer.read("u") { try $0.uint32() } == 1
        } catch { throw RelayError(asking: "the bus", error) }
    }

    // MARK: What comes

    func signal(_ message: borrowing ReceivedMessage) {
        if let change = OwnerChange(message), change.name == service { return learn(change.newOwner) }
        let isOfOrigin = state.withLock { state in
            guard let owner = state.owner, message.hasSender(owner) else { return false }
            if let interface, message.hasInterface(interface), !message.isOversized {
                message.withBody { state.live.add(message.member ?? "", $0) }
            } else {
                state.live.ask()
            }
            return true
        }
        if isOfOrigin { bell.ring() }
    }
    func methodCall(_ call: IncomingCall) {
        call.connection.fail(call, ErrorNames.unknownMethod, "an exporter has no methods")
    }
    func replyReceived(from sender: String, serial: UInt32) {
        state.withLock { $0.connection }?.sendReceived(serial, to: sender)
    }
    func disconnected(_ reason: RelayError) {
        state.withLock { ($0.isOpen, $0.owner) = (false, nil) }
        bell.ring()
    }
}
extension RelayError {
    /// What went wrong with a question, as an error of the library.
    init(asking whom: String, _ error: any Error) {
        self = error as? RelayError ?? RelayError(.internalFailure, "\(whom) cannot be asked: \(error)", cause: error)
    }
}
