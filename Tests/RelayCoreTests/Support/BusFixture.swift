import BusProcess
import Glibc
import RelayTestKit
import Synchronization
import Testing

@testable import RelayCore
import RelayWire

/// A bus of a test's own, and a loop for its connections.
final class BusFixture: Sendable {
    /// A connection and who listens to it.
    final class Peer: Sendable {
        let handler: RecordingHandler
        let connection: BusConnection
        init(_ connection: BusConnection, _ handler: RecordingHandler) {
            (self.connection, self.handler) = (connection, handler)
        }
        var name: String { connection.uniqueName }
        deinit { connection.close() }
    }
    let bus: PrivateBus
    let loop: BusLoop

    init(limits: BusDaemon.Limits = .session) throws {
        bus = try PrivateBus(limits: limits)
        loop = try BusLoop(name: "test")
    }
    deinit { loop.stop() }

    func peer(on other: BusLoop? = nil) async throws -> Peer {
        let handler = RecordingHandler()
        return Peer(try await BusConnection.connect(to: bus.bus, on: other ?? loop, handler: handler), handler)
    }
    /// Stops the daemon, and waits until it stands still.
    func stopBus() async {
        bus.process.signal(SIGSTOP)
        let stat = "/proc/\(bus.processID)/stat"
        #expect(await eventually { (try? ProcessState(stat))?.isStopped == true })
    }
    /// Answers every call at once, with nothing.
    func echo() async throws -> Peer {
        let echo = try await peer()
        echo.handler.onCall.withLock { onCall in
            onCall = { [weak echo] call in echo?.connection.reply(to: call) }
        }
        return echo
    }
}

extension MethodCall {
    /// A call of no meaning.
    static func test(_ destination: String, _ member: String = "Do", flags: MessageHeader.Flags = []) -> Self {
        MethodCall(to: destination, path: "/a", interface: "org.example.A1", member: member, flags: flags)
    }
}

extension MessageHeader {
    /// A signal of no meaning, to one peer.
    static func test(_ destination: String?, _ member: String = "Went", _ signature: Signature = .empty) -> Self {
        .signal(
            path: "/a", interface: "org.example.A1", member: member, destination: destination, signature: signature)
    }
}

extension Result where Failure == RelayError {
    var code: RelayError.Code? {
        if case .failure(let error) = self { error.code } else { nil }
    }
}

/// The bytes of a value on the wire.
func wire(capacity: Int = 256, _ write: (inout WireWriter) -> Void) -> [UInt8] {
    var writer = WireWriter(capacity: capacity)
    write(&writer)
    return writer.bytes
}
extension WireWriter {
    /// An array of bytes.
    mutating func bytes(_ bytes: [UInt8]) {
        uint32(UInt32(bytes.count))
        append(bytes)
    }
}
