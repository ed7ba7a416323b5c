import CDBus
import Glibc
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayBus
import RelayWire

@Suite("A connection's life", .heavy, .tags(.g6)) struct ConnectionLifeTests {
    @Test("no bus at the address, a bad address, and somebody who is no bus are errors, not waits")
    func noBus() async throws {
        let loop = try BusLoop(name: "no bus")
        let handler = RecordingHandler()
        for address in ["unix:path=/nonexistent/bus", "", "nonsense", "unix:", "unix:path=%zz", "unknown:a=b"] {
            let error = await #expect(throws: RelayError.self) {
                try await BusConnection.connect(to: .address(address), on: loop, handler: handler)
            }
            #expect(error?.code == .unavailable && error?.cause is RemoteError, "\(address)")
        }
        #expect(handler.all.disconnects.isEmpty)
        loop.stop()
    }
    @Test("a bus that hangs up before it lets us in is an error of connecting, of which the handler hears nothing")
    func hangsUp() async throws {
        let fixture = try BusFixture()
        let handler = RecordingHandler()
        await fixture.stopBus()
        let task = Task { [loop = fixture.loop, bus = fixture.bus.bus] in
            try await BusConnection.connect(to: bus, on: loop, handler: handler)
        }
        fixture.bus.process.signal(SIGKILL)
        let error = await #expect(throws: RelayError.self) { _ = try await task.value }
        #expect(error?.code == .unavailable)
        #expect(handler.all.disconnects.isEmpty)
    }
    @Test("a bus that does not answer is a timeout of connecting") func stalled() async throws {
        let fixture = try BusFixture()
        await fixture.stopBus()
        let timing = BusTiming { $0.hello = .milliseconds(30) }
        let error = await #expect(throws: RelayError.self) {
            try await BusConnection.connect(
                to: fixture.bus.bus, on: fixture.loop, handler: RecordingHandler(), timing: timing)
        }
        #expect(error?.code == .unavailable && (error?.cause as? RelayError)?.code == .timedOut)
    }
    @Test("connecting on a stopped loop ends with an error") func stoppedLoop() async throws {
        let fixture = try BusFixture()
        fixture.loop.stop()
        let error = await #expect(throws: RelayError.self) { try await fixture.peer() }
        #expect(error?.code == .unavailable)
    }
    @Test("the last word is the disconnection, once, and this process outlives its bus") func lastWord() async throws {
        let fixture = try BusFixture()
        let (peer, sender) = (try await fixture.peer(), try await fixture.peer())
        for _ in 0..<500 { try sender.connection.send(.test(peer.name)) }
        #expect(await eventually { peer.handler.signals.count > 0 })
        fixture.bus.process.signal(SIGKILL)
        #expect(await eventually { peer.handler.all.disconnects.count == 1 })
        #expect(await eventually { sender.handler.all.disconnects.count == 1 })
        #expect(peer.handler.all.order.last == "disconnected")
        #expect(peer.handler.all.disconnects.first?.code == .unavailable)
    }
    @Test("closing many times, from many threads, while others send, closes once") func closing() async throws {
        let fixture = try BusFixture()
        let other = try await fixture.peer()
        for _ in 0..<20 {
            let peer = try await fixture.peer()
            await withTaskGroup { group in
                for number in 0..<8 {
                    group.addTask {
                        for _ in 0..<20 { try? peer.connection.send(.test(other.name)) }
                        if number % 2 == 0 { peer.connection.close() }
                    }
                }
            }
            peer.connection.close()
            #expect(peer.handler.all.disconnects.isEmpty)
        }
        _ = try await other.connection.call(.toBus("GetId"))
    }
    @Test("a handler may close its connection, and hears nothing more") func closesItself() async throws {
        let fixture = try BusFixture()
        let (peer, sender) = (try await fixture.peer(), try await fixture.peer())
        peer.handler.onSignal.withLock {
            $0 = { [weak peer] signal in
                if signal.member == "Went" { peer?.connection.close() }
            }
        }
        for _ in 0..<50 { try sender.connection.send(.test(peer.name)) }
        #expect(await eventually { peer.handler.signals.count == 1 })
        _ = try await sender.connection.call(.toBus("GetId"))
        #expect(peer.handler.signals.count == 1)
    }
    @Test("a connection may be released by its own handler, on the loop's thread") func releasesItself() async throws {
        let fixture = try BusFixture()
        let sender = try await fixture.peer()
        let handler = RecordingHandler()
        let held = Mutex<BusConnection?>(
            try await BusConnection.connect(to: fixture.bus.bus, on: fixture.loop, handler: handler))
        let name = held.withLock { $0?.uniqueName ?? "" }
        handler.onSignal.withLock {
            $0 = { signal in
                guard signal.member == "Went" else { return }
                let last = held.withLock { held in
                    defer { held = nil }
                    return held
                }
                withExtendedLifetime(last) {}
            }
        }
        for _ in 0..<10 { try sender.connection.send(.test(name)) }
        #expect(await eventually { held.withLock { $0 == nil } })
        // The bus takes its name away, so it is closed.
        func isGone() async throws -> Bool {
            let body = wire { try? $0.string(name) }
            let reply = try await sender.connection.call(.toBus("NameHasOwner", try Signature("s"), body: body))
            return try reply.read("b") { try !$0.bool() }
        }
        #expect(try await eventually { try await isGone() })
    }
}

/// One line of /proc: whether a process is stopped.
struct ProcessState {
    let isStopped: Bool
    init(_ path: String) throws {
        guard let file = fopen(path, "r") else { throw SystemError(errno) }
        defer { fclose(file) }
        var text = [UInt8](repeating: 0, count: 512)
        let count = fread(&text, 1, text.count, file)
        let line = String(decoding: text.prefix(count), as: UTF8.self)
        isStopped = line.contains(") T ")
    }
}
