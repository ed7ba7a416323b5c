import Glibc
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayBus
import RelayWire

@Suite("Sending", .heavy, .tags(.g1)) struct SendingTests {
    let fixture: BusFixture
    init() throws { fixture = try BusFixture() }

    @Test("64 threads send at once: all arrives, each thread's in its order") func threads() async throws {
        let (sender, receiver) = (try await fixture.peer(), try await fixture.peer())
        let (name, signature) = (receiver.name, try Signature("uu"))
        let failures = Atomic<Int>(0)
        let ended = Atomic<Int>(0)
        for thread: UInt32 in 0..<64 {
            let loop = try BusLoop(name: "sender")  // A thread of its own; its end is its release.
            loop.execute {
                for number: UInt32 in 0..<50 {
                    let body = wire {
                        $0.uint32(thread); $0.uint32(number)
                    }
                    do { try sender.connection.send(.test(name, "Went", signature), body: body) } catch {
                        failures.add(1, ordering: .relaxed)
                    }
                }
                ended.add(1, ordering: .relaxed)
            }
        }
        #expect(
            await eventually {
                receiver.handler.signals.count == 64 * 50 && ended.load(ordering: .relaxed) == 64
            })
        #expect(failures.load(ordering: .relaxed) == 0)
        var next = [UInt8](repeating: 0, count: 64)
        for signal in receiver.handler.signals {
            let (thread, number) = (Int(signal.body[0]), signal.body[4])
            #expect(number == next[thread])
            next[thread] = number + 1
        }
    }
    @Test("sending never waits for a stopped bus; what is queued is counted, and all arrives when it goes on")
    func stoppedBus() async throws {
        let (sender, receiver) = (try await fixture.peer(), try await fixture.peer())
        let (name, signature) = (receiver.name, try Signature("ay"))
        await fixture.stopBus()
        let body = wire { $0.bytes([UInt8](repeating: 7, count: 10_000)) }
        for _ in 0..<300 { try sender.connection.send(.test(name, "Went", signature), body: body) }
        #expect(sender.connection.outgoingBytes > 2_000_000)
        fixture.bus.process.signal(SIGCONT)
        #expect(await eventually { receiver.handler.signals.count == 300 })
        #expect(receiver.handler.signals.allSatisfy { $0.body == body })
        #expect(await eventually { sender.connection.outgoingBytes == 0 })
    }
    @Test("a handler may send, call and close timers from within a signal") func fromHandler() async throws {
        let (peer, other) = (try await fixture.peer(), try await fixture.peer())
        let name = other.name
        let replies = Atomic<Int>(0)
        peer.handler.onSignal.withLock {
            $0 = { [weak peer] signal in
                guard signal.member == "Went" else { return }
                try? peer?.connection.send(.test(name, "Back"))
                peer?.connection.send(.toBus("GetId")) { _ in replies.add(1, ordering: .relaxed) }
            }
        }
        for _ in 0..<100 { try other.connection.send(.test(peer.name)) }
        #expect(await eventually { other.handler.signals.count == 100 && replies.load(ordering: .relaxed) == 100 })
    }
    @Test("a message over the limit is refused here, not by a bus that ends the connection") func tooLarge()
        async throws
    {
        let peer = try await fixture.peer()
        let header = MessageHeader.test(peer.name, "Went", try Signature("ay"))
        func send(_ count: Int, limit: Int) throws(RelayError) {
            var writer = WireWriter(capacity: count + 512)
            let start = try header.write(into: &writer, serial: peer.connection.nextSerial())
            writer.bytes([UInt8](repeating: 1, count: count))
            try MessageHeader.finish(&writer, bodyStart: start, limit: limit)
            try peer.connection.send(writer)
        }
        for (count, limit) in [(2 << 20, WireLimits.defaultMessageLength), (33 << 20, 64 << 20)] {
            let error = #expect(throws: RelayError.self) { try send(count, limit: limit) }
            #expect(error?.code == .tooLarge)
        }
        try send(1_000_000, limit: WireLimits.defaultMessageLength)
        #expect(await eventually { peer.handler.signals.count == 1 })
    }
    @Test("bytes that are no message are an error, whatever they are", arguments: 1...50) func noMessage(seed: UInt64)
        async throws
    {
        var random = SeededGenerator(seed: seed)
        let peer = try await fixture.peer()
        var writer = WireWriter()
        let start = try MessageHeader.test(peer.name, "Went", try Signature("s")).write(into: &writer, serial: 1)
        try writer.string("text")
        try MessageHeader.finish(&writer, bodyStart: start)
        var bytes = writer.bytes
        // The flags and the serial may be anything, and receivers ignore a type that they do not know.
        let index = [0, 3, 4, 5, 6, 7, 12, 13, 14, 15].randomElement(using: &random) ?? 0
        bytes[index] ^= UInt8.random(in: 128...255, using: &random)
        let cut = Bool.random(using: &random) ? Int.random(in: 0..<bytes.count, using: &random) : bytes.count
        let sent = bytes.prefix(cut)
        let error = sent.withUnsafeBytes { bytes in
            #expect(throws: RelayError.self, "seed \(seed)") { try peer.connection.send(bytes) }
        }
        #expect(error?.code == .invalidArgument, "seed \(seed)")
    }
    @Test("a call that libdbus refuses ends at once, also while the bus is stopped") func refusedWhileQueued()
        async throws
    {
        let peer = try await fixture.peer()
        await fixture.stopBus()
        let body = wire { $0.bytes([UInt8](repeating: 7, count: 100_000)) }
        while peer.connection.outgoingBytes < 1_000_000 {
            try peer.connection.send(.test(peer.name, "Went", try Signature("ay")), body: body)
        }
        let broken = MethodCall(
            to: peer.name, path: "/", interface: "a.b", member: "C", signature: try Signature("s"), body: [1])
        let error = await #expect(throws: RelayError.self) { try await peer.connection.call(broken) }
        #expect(error?.code == .invalidArgument)
        peer.connection.close()
        #expect(peer.connection.outgoingBytes == 0)
        fixture.bus.process.signal(SIGCONT)
    }
}
