import Synchronization

@testable import RelayCore

/// A service by hand, which says and leaves out what a test wants.
final class FakeService: BusHandler {
    private struct State {
        var connection: BusConnection?
        var sequence: UInt64 = 0
        var last: [String: UInt64] = [:]
        var attaches = 0
    }
    let epoch: UInt64
    private let interface: String
    private let schemas: [UInt32: EventSchema]
    private let state = Mutex(State())
    private let loop: BusLoop

    private init(_ interface: String, _ epoch: UInt64, _ schemas: [EventSchema]) throws {
        (self.interface, self.epoch) = (interface, epoch)
        self.schemas = Dictionary(uniqueKeysWithValues: schemas.enumerated().map { (UInt32($0), $1) })
        loop = try BusLoop(name: "fake")
    }
    deinit { loop.stop() }

    /// Takes the name, after having published `early`.
    static func start(
        _ name: String, _ interface: String, on bus: Bus, epoch: UInt64, schemas: [EventSchema] = []
    ) async throws -> FakeService {
        let service = try FakeService(interface, epoch, schemas)
        let connection = try await BusConnection.connect(to: bus, on: service.loop, handler: service)
        service.state.withLock { $0.connection = connection }
        var body = WireWriter()
        try body.string(name)
        body.uint32(4)
        _ = try await connection.call(.toBus("RequestName", Signature("su"), body: body.bytes))
        return service
    }
    /// How often the relay asked where this run stands.
    var attaches: Int { state.withLock { $0.attaches } }
    /// Is gone at once, like a process that was killed.
    func vanish() { state.withLock { $0.connection }?.close() }

    /// Publishes an event whose fields are `values`; one that is lost only takes its place.
    ///
    /// Sent under the lock, as a service does: the answer of `Attach` must not overtake an event that it counts.
    func publish(_ name: String, _ values: [DBusValue], isLost: Bool = false) throws {
        try state.withLock { state in
            state.sequence += 1
            let stamp: [DBusValue] = [.uint64(state.sequence), .uint64(state.last[name] ?? 0), .uint64(1)]
            state.last[name] = state.sequence
            if isLost { return }
            var body = WireWriter()
            try DBusValue.encode(values + stamp, into: &body)
            let header = MessageHeader.signal(
                path: Stream1.path(of: interface), interface: interface, member: name,
                signature: try DBusValue.signature(of: values + stamp))
            try state.connection?.send(header, body: body.bytes)
        }
    }
    func announce() throws {
        try state.withLock { state in
            var body = WireWriter()
            try Stream1.write(
                StreamHead(epoch: epoch, sequence: state.sequence, last: state.last), into: &body)
            try state.connection?.send(
                .signal(
                    path: Stream1.path(of: interface), interface: Stream1.name, member: "Head",
                    signature: Signature(Stream1.headSignature)), body: body.bytes)
        }
    }

    func signal(_ message: borrowing ReceivedMessage) {}
    func methodCall(_ call: IncomingCall) {
        state.withLock { state in
            var body = WireWriter()
            do {
                switch call.member {
                case "Schemas":
                    try Stream1.write(schemas, into: &body)
                    state.connection?.reply(to: call, try Signature(Stream1.schemasSignature), body: body.bytes)
                case "Attach":
                    state.attaches += 1
                    let answer = Attachment(
                        epoch: epoch, from: 0, oldest: .max, head: state.sequence, last: state.last)
                    try Stream1.write(answer, into: &body)
                    state.connection?.reply(to: call, try Signature(Stream1.attachmentSignature), body: body.bytes)
                default: break
                }
            } catch {
                state.connection?.fail(call, ErrorNames.name(for: .internalFailure), "\(error)")
            }
        }
    }
    func disconnected(_ reason: RelayError) {}
}
