import Glibc
import RelayCore
import Synchronization
import RelayWire

/// A connection without any of the relay's care: keeps, in their order, the signals of the ledger and the answers that it got.
final class Observer: BusHandler {
    enum Seen: Equatable, Sendable {
        case event(UInt64)
        case head(UInt64)
        case attached(head: UInt64)
        case ended(head: UInt64)
    }
    private struct State {
        var seen: [Seen] = []
        var connection: BusConnection?
    }
    private let state = Mutex(State())
    private let loop: BusLoop
    private let interface: String

    private init(_ interface: String) throws {
        (loop, self.interface) = (try BusLoop(name: "observer"), interface)
    }
    /// Joins the bus, and asks it for what the rules say.
    static func join(_ bus: Bus, _ interface: String, rules: [String]) async throws -> Observer {
        let observer = try Observer(interface)
        let connection = try await BusConnection.connect(to: bus, on: observer.loop, handler: observer)
        observer.state.withLock { $0.connection = connection }
        for rule in rules {
            var body = WireWriter()
            try body.string(rule)
            _ = try await connection.call(.toBus("AddMatch", Signature("s"), body: body.bytes))
        }
        return observer
    }
    deinit { loop.stop() }

    var seen: [Seen] { state.withLock { $0.seen } }
    var connection: BusConnection? { state.withLock { $0.connection } }
    func leave() { connection?.close() }

    /// Asks where the stream stands; what it is told is kept in its place.
    func attach(_ service: String) throws {
        var body = WireWriter()
        try Stream1.write(AttachRequest(names: [Stream1.allNames]), into: &body)
        let call = MethodCall(
            to: service, path: Stream1.path(of: interface), interface: Stream1.name, member: "Attach",
            signature: try Signature(Stream1.attachSignature), body: body.bytes)
        connection?.send(call) { [weak self] reply in
            let attachment = try? reply.get().read(Stream1.attachmentSignature) { try Stream1.readAttachment(&$0) }
            if let attachment { self?.keep(.attached(head: attachment.head)) }
        }
    }
    /// Everybody else's unique names.
    func peers() async throws -> [String] {
        guard let connection else { return [] }
        let names = try await connection.call(.toBus("ListNames")).values()
        guard case .array(_, let elements)? = names.first else { return [] }
        return elements.compactMap { element in
            guard case .string(let name) = element, name.hasPrefix(":"), name != connection.uniqueName else {
                return nil
            }
            return name
        }
    }
    /// Sends an entry, and a head, that are none of the ledger's.
    func forge(to peer: String, sequence: UInt64) throws {
        let path = Stream1.path(of: interface)
        var entry = WireWriter()
        try DBusValue.encode(
            [.int64(666), .string("forged"), .uint64(sequence), .uint64(sequence - 1), .uint64(1)], into: &entry)
        try connection?.send(
            .signal(
                path: path, interface: interface, member: "Entry", destination: peer, signature: try Signature("xsttt")),
            body: entry.bytes)
        var head = WireWriter()
        try Stream1.write(StreamHead(epoch: 1, sequence: 1_000, last: ["Entry": 1_000]), into: &head)
        try connection?.send(
            .signal(
                path: path, interface: Stream1.name, member: "Head", destination: peer,
                signature: try Signature(Stream1.headSignature)), body: head.bytes)
    }
    private func keep(_ seen: Seen) { state.withLock { $0.seen.append(seen) } }

    func signal(_ message: borrowing ReceivedMessage) {
        if message.hasInterface(interface) {
            // The stamp's three numbers end the body; its sequence is the first of them.
            let sequence = message.withBody { body in
                body.count < 24 ? 0 : body.loadUnaligned(fromByteOffset: body.count - 24, as: UInt64.self)
            }
            keep(.event(sequence))
        } else if message.hasInterface(Stream1.name), message.hasMember("End") {
            // Its arguments are those of `Head`.
            let head = message.withBody { body in
                var reader = WireReader(body)
                return try? Stream1.readHead(&reader)
            }
            if let head { keep(.ended(head: head.sequence)) }
        } else if message.hasInterface(Stream1.name), message.hasMember("Head") {
            let head = message.withBody { body in
                var reader = WireReader(body)
                return try? Stream1.readHead(&reader)
            }
            if let head { keep(.head(head.sequence)) }
        }
    }
    func methodCall(_ call: IncomingCall) {}
    func disconnected(_ reason: RelayError) {}
}
