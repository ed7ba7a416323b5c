import Glibc
import RelayTestKit
import Synchronization
import Testing

@testable import RelayCore

/// Collects what a connection tells.
final class RecordingHandler: BusHandler {
    struct Seen: Sendable {
        var signals: [String] = []
        var calls: [IncomingCall] = []
        var disconnects: [RelayError] = []
    }
    let seen = Mutex(Seen())
    let answer = Mutex<(@Sendable (IncomingCall) -> Void)?>(nil)
    func signal(_ message: borrowing ReceivedMessage) {
        let text = "\(message.sender ?? "-") \(message.interface ?? "-").\(message.member ?? "-")"
        seen.withLock { $0.signals.append(text) }
    }
    func methodCall(_ call: IncomingCall) {
        seen.withLock { $0.calls.append(call) }
        answer.withLock { $0 }?(call)
    }
    func disconnected(_ reason: RelayError) { seen.withLock { $0.disconnects.append(reason) } }
}

@Suite struct BusConnectionTests {
    let bus: PrivateBus
    let loop: BusLoop
    init() throws {
        bus = try PrivateBus()
        loop = try BusLoop(name: "test")
    }

    @Test func saysHelloAndGetsAUniqueName() async throws {
        let handler = RecordingHandler()
        let connection = try await BusConnection.connect(to: bus.bus, on: loop, handler: handler)
        #expect(connection.uniqueName.hasPrefix(":1."))
        connection.close()
    }
    @Test func callsTheBusAndReadsItsAnswer() async throws {
        let handler = RecordingHandler()
        let connection = try await BusConnection.connect(to: bus.bus, on: loop, handler: handler)
        let reply = try await connection.call(.toBus("GetId"))
        let id = try reply.read("s") { try $0.string() }
        #expect(id.utf8.count == 32)
        #expect(throws: RelayError.self) { try reply.read("u") { try $0.uint32() } }
    }
    @Test func everyWaitingCallEndsWhenTheBusGoes() async throws {
        let handler = RecordingHandler()
        let silent = RecordingHandler()
        let connection = try await BusConnection.connect(to: bus.bus, on: loop, handler: handler)
        let other = try await BusConnection.connect(to: bus.bus, on: loop, handler: silent)
        await withTaskGroup { group in
            for _ in 0..<10 {
                group.addTask {
                    do {
                        _ = try await connection.call(
                            MethodCall(to: other.uniqueName, path: "/", interface: "a.b", member: "C"))
                        Issue.record("answered by nobody")
                    } catch {
                        let error = error as? RelayError
                        #expect(error?.code == .unavailable && error?.mayHaveRun == true)
                    }
                }
            }
            while silent.seen.withLock({ $0.calls.count }) < 10 { await Task.yield() }
            bus.daemon.process.signal(SIGKILL)
        }
        while handler.seen.withLock({ $0.disconnects.isEmpty }) { await Task.yield() }
        #expect(handler.seen.withLock { $0.disconnects.count } == 1)
    }
}
