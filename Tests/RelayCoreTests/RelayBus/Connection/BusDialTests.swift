import RelayTestKit
import TestTraits
import Testing

@testable import RelayBus
@testable import RelayCore

@Suite("A bus that does not accept", .heavy, .tags(.g6)) struct BusDialTests {
    private let timing = BusTiming { $0.hello = .milliseconds(30) }

    private func refusal(_ socket: FullSocket, _ loop: BusLoop) async -> RelayError? {
        await relayFailure {
            _ = try await BusConnection.connect(
                to: socket.bus, on: loop, handler: RecordingHandler(), timing: timing)
        }
    }

    /// Until the loop has finished what it was at.
    private func turn(_ loop: BusLoop) async {
        await withCheckedContinuation { timer in loop.schedule(after: .zero) { timer.resume() } }
    }

    @Test("is a timeout of connecting, and the loop does not wait meanwhile") func inTime() async throws {
        let socket = try FullSocket()
        let loop = try BusLoop(name: "dial")
        let error = await refusal(socket, loop)
        #expect(error?.code == .unavailable && (error?.cause as? RelayError)?.code == .timedOut)
        #expect(error?.message.contains(socket.path) == true, "\(error?.message ?? "")")
        #expect(!loop.dials.isEmpty)
        await turn(loop)
        // It is another error at once, without a bus.
        socket.close()
        #expect(await eventually { loop.dials.isEmpty })
        #expect(await refusal(socket, loop)?.cause is RemoteError)
        loop.stop()
    }
    @Test("keeps few threads, however often a connection is tried") func bounded() async throws {
        let socket = try FullSocket()
        let loop = try BusLoop(name: "dial")
        for _ in 0..<OpenDials.limit { _ = await refusal(socket, loop) }
        for _ in 0..<3 {
            let error = await refusal(socket, loop)
            #expect(error?.code == .unavailable)
            #expect(error?.message.contains("\(OpenDials.limit) earlier connections") == true)
        }
        loop.stop()
    }
    @Test("and accepts at last has the connection closed") func late() async throws {
        let socket = try FullSocket()
        let loop = try BusLoop(name: "dial")
        #expect(await refusal(socket, loop) != nil)
        #expect(await eventually { socket.accept() == 1 })
        #expect(await eventually { loop.dials.isEmpty })
        loop.stop()
    }
    @Test("and a loop that is stopped meanwhile is an error of connecting") func stopped() async throws {
        let socket = try FullSocket()
        let loop = try BusLoop(name: "dial")
        let attempt = Task { [bus = socket.bus] in
            await relayFailure {
                _ = try await BusConnection.connect(to: bus, on: loop, handler: RecordingHandler())
            }
        }
        #expect(await eventually { !loop.dials.isEmpty })
        await turn(loop)
        loop.stop()
        #expect(await attempt.value?.code == .unavailable)
        #expect(!loop.dials.isEmpty, "its thread still waits")
    }
}
