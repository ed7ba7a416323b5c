import Synchronization
import Testing

@testable import RelayCore
import RelayWire

/// A service that says what was recorded of one.
final class RecordedService: BusHandler {
    private let recording: Recording
    private let connection = Mutex<BusConnection?>(nil)
    private let loop: BusLoop

    private init(_ recording: Recording) throws {
        self.recording = recording
        loop = try BusLoop(name: "recorded")
    }
    deinit { loop.stop() }

    static func start(_ recording: Recording, _ name: String, on bus: Bus) async throws -> RecordedService {
        let service = try RecordedService(recording)
        let connection = try await BusConnection.connect(to: bus, on: service.loop, handler: service)
        service.connection.withLock { $0 = connection }
        var body = WireWriter()
        try body.string(name)
        body.uint32(4)
        _ = try await connection.call(.toBus("RequestName", Signature("su"), body: body.bytes))
        return service
    }
    func vanish() { connection.withLock { $0 }?.close() }

    func send(_ member: String) throws {
        let signal = try recording.signal(member)
        let header = MessageHeader.signal(
            path: DurableDesk.path, interface: signal.interface, member: member,
            signature: try Signature(signal.message.signature))
        try connection.withLock { $0 }?.send(header, body: signal.message.body)
    }
    func signal(_ message: borrowing ReceivedMessage) {}
    func methodCall(_ call: IncomingCall) {
        guard let connection = connection.withLock({ $0 }) else { return }
        do {
            // Proves what it has read, and gets no reply.
            if call.member == "Received" { return }
            // Descriptors are not recorded.
            if call.member == "OpenRing" { return connection.fail(call, ErrorNames.name(for: .notFound), "no ring") }
            // Events of a command come before its reply.
            if call.member == "Book" { try send("Booked") }
            switch try recording.call(call.member).answer {
            case .reply(let message):
                connection.reply(to: call, try Signature(message.signature), body: message.body)
            case .error(let name, let message):
                guard case .string(let text)? = try message.values().first else { return }
                connection.fail(call, name, text)
            }
        } catch { Issue.record(error) }
    }
    func disconnected(_ reason: RelayError) {}
}
