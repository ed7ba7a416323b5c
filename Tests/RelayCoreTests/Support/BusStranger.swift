import CRingAttack
import RelayTestKit
import Synchronization

@testable import RelayCore
import RelayWire

/// A connection without any of the relay's care: says what it likes, and keeps what it hears.
final class BusStranger: BusHandler {
    struct Signal: Sendable {
        let member: String
        let values: [DBusValue]
    }
    private let seen = Mutex<[Signal]>([])
    private let connections = Mutex<BusConnection?>(nil)
    private let confirming = Mutex((isOn: true, left: [(serial: UInt32, sender: String)]()))
    let loop: BusLoop

    private init() throws { loop = try BusLoop(name: "peer") }
    /// - Parameter user: as whom it comes; nil: as this process's user. For others this process has to be root's.
    static func join(_ bus: Bus, as user: UInt32? = nil) async throws -> BusStranger {
        let peer = try BusStranger()
        // The loop's thread connects and authenticates; the others stay who they are.
        if let user {
            let failure = await withCheckedContinuation { continuation in
                peer.loop.execute { continuation.resume(returning: attack_become(user)) }
            }
            if failure != 0 { throw SystemError(failure) }
        }
        let connection = try await BusConnection.connect(to: bus, on: peer.loop, handler: peer)
        peer.connections.withLock { $0 = connection }
        return peer
    }
    deinit { loop.stop() }

    var connection: BusConnection { connections.withLock { $0 }! }  // Joined: see `join`.
    var signals: [Signal] { seen.withLock { $0 } }

    /// Calls a method, with the arguments' own signature.
    func call(
        _ destination: String, _ path: String, _ interface: String, _ member: String, _ values: [DBusValue] = []
    ) async throws -> [DBusValue] {
        try await connection.call(try Self.request(destination, path, interface, member, values)).values()
    }
    /// As above, but it has been sent when this returns: before whatever is sent next.
    func begin(
        _ destination: String, _ path: String, _ interface: String, _ member: String, _ values: [DBusValue] = []
    ) throws -> Task<[DBusValue], any Error> {
        let (replies, reply) = AsyncStream.makeStream(of: Result<BusReply, RelayError>.self)
        connection.send(try Self.request(destination, path, interface, member, values)) { reply.yield($0) }
        return Task {
            for await reply in replies { return try reply.get().values() }
            throw CancellationError()
        }
    }
    private static func request(
        _ destination: String, _ path: String, _ interface: String, _ member: String, _ values: [DBusValue]
    ) throws -> MethodCall {
        var body = WireWriter()
        try DBusValue.encode(values, into: &body)
        return MethodCall(
            to: destination, path: path, interface: interface, member: member,
            signature: try DBusValue.signature(of: values), body: body.bytes)
    }
    /// Whether somebody on the bus has a name.
    func hasOwner(_ name: String) async throws -> Bool {
        let bus = "org.freedesktop.DBus"
        return try await call(bus, "/org/freedesktop/DBus", bus, "NameHasOwner", [.string(name)]) == [.boolean(true)]
    }
    /// The D-Bus name and the message of the error that a call ends with.
    func refusal(
        _ destination: String, _ path: String, _ interface: String, _ member: String, _ values: [DBusValue] = []
    ) async -> RemoteError? {
        do {
            _ = try await call(destination, path, interface, member, values)
            return nil
        } catch {
            return (error as? RelayError)?.cause as? RemoteError ?? RemoteError(name: "?", message: "\(error)")
        }
    }
    func send(signal header: MessageHeader, _ values: [DBusValue]) throws {
        var body = WireWriter()
        try DBusValue.encode(values, into: &body)
        var header = header
        header.signature = try DBusValue.signature(of: values)
        try connection.send(header, body: body.bytes)
    }
    func listen(_ interface: String) async throws {
        var body = WireWriter()
        try body.string("type='signal',interface='\(interface)'")
        _ = try await connection.call(.toBus("AddMatch", Signature("s"), body: body.bytes))
    }

    /// Whether it reports what it has read, where that is due. What it has not reported goes out as soon as it does.
    var confirms: Bool {
        get { confirming.withLock { $0.isOn } }
        set {
            let left = confirming.withLock { state in
                state.isOn = newValue
                defer { if newValue { state.left = [] } }
                return newValue ? state.left : []
            }
            for one in left { connection.sendReceived(one.serial, to: one.sender) }
        }
    }
    /// The serials of what it has read, and not reported.
    var unconfirmed: [UInt32] { confirming.withLock { $0.left.map(\.serial) } }
    func replyReceived(from sender: String, serial: UInt32) {
        let isOn = confirming.withLock { state in
            if !state.isOn { state.left.append((serial, sender)) }
            return state.isOn
        }
        if isOn { connection.sendReceived(serial, to: sender) }
    }
    func signal(_ message: borrowing ReceivedMessage) {
        guard let member = message.member, let signature = try? Signature(message.signature),
            let values = try? DBusValue.decode(signature: signature, body: message.body)
        else { return }
        seen.withLock { $0.append(Signal(member: member, values: values)) }
    }
    func methodCall(_ call: IncomingCall) {}
    func disconnected(_ reason: RelayError) {}
}
