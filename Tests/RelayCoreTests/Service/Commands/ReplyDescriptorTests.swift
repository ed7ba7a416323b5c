import CDBus
import Glibc
import RelayTestKit
import Synchronization
import TestTraits
import Testing
import WireSupport

@testable import RelayCore
import RelayWire

private enum Logs1: EventInterface {
    static let name = "org.example.Logs1"
    static let durability = Volatile()
    static var contract: Contract<Self> { OpenLogs.self }
}
/// Opens the writing end of the test's pipe, so many times.
private struct OpenLogs: Command {
    typealias Interface = Logs1
    var count: Int32
    /// Runs until it is let go.
    var isHeld = false
    var padding: Int32 = 0
    static let isCancellable = true
    struct Part: Codable, Sendable { var number: Int32, log: TransferredDescriptor }
    struct Reply: Codable, Sendable {
        var parts: [Part], last: TransferredDescriptor?
        var padding: [UInt8]
    }
}

@Suite("File descriptors in replies", .heavy, .tags(.g4, .g8)) struct ReplyDescriptorTests {
    private static let name = "org.example.Logs"
    private final class Site: Sendable {
        let service: EventService
        let (pipe, writing): (CountedPipe, Int32)
        private let open = Atomic<Bool>(false)
        private let begun = Log<Int32>()
        /// Handlers that have begun, all or those that reply with so many descriptors.
        var runs: Int { begun.count }
        func runs(of count: Int32) -> Int { begun.values.count { $0 == count } }
        var unread: Int { service.core.ledger.held(.replyDescriptors) }
        func release() { open.store(true, ordering: .relaxed) }

        init(_ bus: Bus) async throws {
            (pipe, writing) = try CountedPipe.make()
            service = try EventService(name: name, on: bus, exporting: Logs1.self)
            service.handle(OpenLogs.self) { [self] request, _ in
                begun.add(request.count)
                func log() throws -> TransferredDescriptor { try TransferredDescriptor(duplicating: writing) }
                let parts = try (0..<request.count).map { OpenLogs.Part(number: $0, log: try log()) }
                // Not cancelled with its caller: its reply comes late.
                while request.isHeld && !open.load(ordering: .relaxed) {
                    try? await Task.detached { try await Task.sleep(for: .milliseconds(1)) }.value
                }
                return OpenLogs.Reply(
                    parts: parts, last: request.count < 0 ? try log() : nil,
                    padding: Array(repeating: 0, count: Int(request.padding)))
            }
            try await service.start()
        }
        deinit { close(writing) }
        /// Nothing is open but the test's own, and nothing is counted.
        var isClean: Bool { pipe.writers == 1 && unread == 0 }
    }
    private func activeRelay(_ bus: Bus) throws -> EventRelay { try .active(Self.name, bus, Logs1.self) }

    @Test("a caller writes into what it gets, wherever it is in the reply, a hundred times, and without the bus's help")
    func travels() async throws {
        let bus = try PrivateBus()
        let site = try await Site(bus.bus)
        site.service.core.replies.unread.withLock { $0.isKnowable = false }
        let relay = try activeRelay(bus.bus)
        for _ in 1...100 {
            let reply = try await relay.call(OpenLogs(count: Int32(DescriptorBag.replyLimit)))
            #expect(reply.parts.count == DescriptorBag.replyLimit && reply.last == nil)
            let file = try reply.parts[3].log.take()
            #expect(write(file.number, "x", 1) == 1)
            #expect(throws: RelayError.self) { _ = try reply.parts[3].log.take() }
        }
        do {
            let reply = try await relay.call(OpenLogs(count: 0))
            #expect(reply.parts.isEmpty && reply.last == nil)
        }
        #expect(await eventually { site.isClean })
        #expect(site.pipe.available == 100)
        try await site.service.stop()
    }
    @Test("each is closed once, whatever becomes of its call") func closed() async throws {
        let bus = try PrivateBus()
        let site = try await Site(bus.bus)
        let relay = try activeRelay(bus.bus)
        // Nobody looks at the reply.
        _ = await relay.outcome(of: OpenLogs(count: 3))
        #expect(await eventually { site.isClean })
        // One too many, and a reply that is too large.
        let tooMany = await relayFailure {
            _ = try await relay.call(OpenLogs(count: Int32(DescriptorBag.replyLimit) + 1))
        }
        #expect(tooMany?.mayHaveRun == true, "\(String(describing: tooMany))")
        #expect(tooMany?.message.contains("at most 8 file descriptors") == true, "\(String(describing: tooMany))")
        let tooLarge = await relayFailure { _ = try await relay.call(OpenLogs(count: 2, padding: 1 << 20)) }
        #expect(tooLarge?.code == .tooLarge && tooLarge?.mayHaveRun == true)
        #expect(await eventually { site.isClean })
        // In time, cancelled, and without anybody: the replies come late.
        let late = await relayFailure {
            _ = try await relay.call(OpenLogs(count: 2, isHeld: true), timeout: .milliseconds(50))
        }
        #expect(late?.code == .timedOut)
        let (other, left) = (try activeRelay(bus.bus), try activeRelay(bus.bus))
        // The late call may have been cancelled before its handler began. These two ask for another count.
        let cancelled = other.start(OpenLogs(count: 4, isHeld: true))
        let invalidated = left.start(OpenLogs(count: 4, isHeld: true))
        #expect(await eventually { site.runs(of: 4) == 2 })
        cancelled.cancel()
        left.invalidate()
        _ = (await cancelled.outcome, await invalidated.outcome)
        site.release()
        #expect(await eventually { site.isClean })
        // And again: nothing was kept of those.
        let reply = try await relay.call(OpenLogs(count: 1))
        #expect(reply.parts.count == 1)
        try await site.service.stop()
    }
    @Test("all who ask for the outcome of a command have the same reply, and its descriptors are taken once")
    func askedTwice() async throws {
        let bus = try PrivateBus()
        let site = try await Site(bus.bus)
        let relay = try activeRelay(bus.bus)
        let running = relay.start(OpenLogs(count: 1))
        let first = try await running.outcome.get()
        let second = try await running.outcome.get()
        #expect(first.parts[0].log === second.parts[0].log)
        do { _ = try first.parts[0].log.take() }
        #expect(throws: RelayError.self) { _ = try second.parts[0].log.take() }
        try await site.service.stop()
    }
    @Test("a service that ends sends the replies of what runs, where the bus does not say what was read")
    func ending() async throws {
        let bus = try PrivateBus()
        let site = try await Site(bus.bus)
        let core = site.service.core
        core.replies.unread.withLock { $0.isKnowable = false }
        let relay = try activeRelay(bus.bus)
        let running = relay.start(OpenLogs(count: 2, isHeld: true))
        #expect(await eventually { site.runs == 1 })
        let ending = Task { try await site.service.stop(patience: .seconds(300)) }
        #expect(await eventually { core.loop.withTurn { core.replies.state.onLoop.isStopping } })
        site.release()
        let reply = try await running.outcome.get()
        #expect(reply.parts.count == 2)
        try await ending.value
    }
    @Test("replies that are left unread are bounded, and a caller that says otherwise gains nothing")
    func unread() async throws {
        let bus = try PrivateBus()
        let site = try await Site(bus.bus)
        let relay = try activeRelay(bus.bus)
        // Its callers are of libdbus, which may read when it sends; the bus would report that.
        site.service.core.replies.unread.withLock { $0.isKnowable = false }
        var peers = try (1...20).map { _ in try RawPeer(bus.address) }
        func call(_ member: String, of interface: String, _ signature: String, by peer: RawPeer, serial: UInt32) throws
        {
            var body = WireWriter()
            if member == "Received" {
                body.uint32(7)
            } else {
                body.int32(1)
                body.bool(false)
                body.int32(0)
            }
            let header = MessageHeader.methodCall(
                path: Stream1.path(of: Logs1.name), interface: interface, member: member, destination: Self.name,
                signature: try Signature(signature))
            var message = WireWriter()
            let start = try header.write(into: &message, serial: serial)
            message.append(body.bytes)
            try MessageHeader.finish(&message, bodyStart: start)
            try peer.send(message.bytes)
        }
        // What one user may have unread.
        for (index, peer) in peers.enumerated() where index < 14 {
            try call("OpenLogs", of: Logs1.name, "ibi", by: peer, serial: 1_000)
            #expect(await eventually { site.unread == index + 1 })
        }
        // And no more: they wait, and are refused without having run.
        for peer in peers {
            for guess: UInt32 in 1...3 { try call("Received", of: Stream1.name, "u", by: peer, serial: 2_000 + guess) }
            try call("OpenLogs", of: Logs1.name, "ibi", by: peer, serial: 3_000)
        }
        #expect(await eventually { site.service.core.queues.count == peers.count })
        #expect(await eventually { site.service.core.queues.count == 0 })
        #expect(site.unread == 14 && site.runs == 14)
        #expect(await relayFailure { _ = try await relay.call(OpenLogs(count: 1)) }?.code == .limitsExceeded)
        // They leave.
        peers = []
        #expect(await eventually { site.isClean })
        let reply = try await relay.call(OpenLogs(count: 1))
        #expect(reply.parts.count == 1 && site.runs == 15)
        try await site.service.stop()
    }
    @Test("a tool that reports nothing is asked for at the bus; where the bus does not say, it may report itself")
    func tools() async throws {
        let bus = try PrivateBus()
        let site = try await Site(bus.bus)
        let tool = try await BusStranger.join(bus.bus)
        tool.confirms = false
        func call() async -> RemoteError? {
            await tool.refusal(
                Self.name, Stream1.path(of: Logs1.name), Logs1.name, "OpenLogs",
                [.int32(1), .boolean(false), .int32(0)])
        }
        for _ in 1...5 { #expect(await call() == nil) }
        site.service.core.replies.unread.withLock { $0.isKnowable = false }
        #expect(await call()?.name == "org.eventrelay.Error.LimitsExceeded")
        let serial = site.service.core.replies.unread.withLock { $0.serials(of: tool.connection.uniqueName) }.last
        #expect(serial == tool.unconfirmed.last)
        _ = try await tool.call(Self.name, "/", Stream1.name, "Received", [.uint32(try #require(serial))])
        #expect(await call() == nil)
        tool.connection.close()
        #expect(await eventually { site.isClean })
        try await site.service.stop()
    }
}
