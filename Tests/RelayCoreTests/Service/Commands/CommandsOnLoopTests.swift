import Glibc
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore
import RelayWire

private enum Quick1: EventInterface {
    static let name = "org.example.Quick1"
    static let durability = Volatile()
    static var contract: Contract<Self> {
        Count.self
        Ticked.self
    }
}
private struct Count: Command {
    typealias Interface = Quick1
    /// What the handler does.
    enum Deed: String, Codable, CaseIterable { case nothing, refuse, publish, ask, stop, block, cancelItself }
    let number: Int64, deed: Deed
    struct Reply: Codable, Equatable, Sendable { let number: Int64 }
    enum Refusal: String, CommandRefusal { case refused = "Refused" }
}
private struct Ticked: DomainEvent {
    typealias Interface = Quick1
    let number: Int64
}

@Suite("Commands on the loop's thread", .heavy, .tags(.g4)) struct CommandsOnLoopTests {
    private final class Site: Sendable {
        static let name = "org.example.Quick"
        let fixture: BusFixture
        let service: EventService
        private let log = Mutex<[String]>([])
        private let echo: BusFixture.Peer

        init() async throws {
            fixture = try BusFixture()
            echo = try await fixture.echo()
            service = try EventService(name: Self.name, on: fixture.bus.bus, exporting: Quick1.self)
            service.handle(Count.self) { [unowned self] command, _ in
                note("\(command.number)\(isOnLoop ? " on the loop" : "")\(Task.isCancelled ? ", cancelled" : "")")
                switch command.deed {
                case .nothing: break
                case .refuse: throw Count.Refusal.refused
                case .publish: try service.publish(Ticked(number: command.number))
                case .ask: _ = try await echo.connection.call(.test(echo.name))
                case .stop: try await service.stop()
                // Far longer than the loop is lent for.
                case .block: usleep(100_000)
                case .cancelItself: withUnsafeCurrentTask { $0?.cancel() }
                }
                note("\(command.number) ends")
                return Count.Reply(number: command.number)
            }
            try await service.start()
        }
        func note(_ text: String) { log.withLock { $0.append(text) } }
        var notes: [String] { log.withLock { $0 } }
        /// The threads of the loop, and they alone, have its name.
        private var isOnLoop: Bool {
            guard let file = fopen("/proc/thread-self/comm", "r") else { return false }
            defer { fclose(file) }
            var name = [UInt8](repeating: 0, count: 32)
            let count = fread(&name, 1, name.count, file)
            return name[..<count].elementsEqual("service\n".utf8)
        }
        /// What has run until now was short, and has left its peers' queues: the thread of a call does that a moment
        /// behind the reply, and what comes before runs where that one did.
        func prove() async throws {
            try #require(await eventually { service.core.queues.count == 0 })
            let length = try #require(service.core.interfaces[0].commands["Count"]).length
            while !length.isShort { length.note(0) }
        }
        func send(
            _ number: Int64, _ deed: Count.Deed = .nothing, from peer: BusFixture.Peer
        ) throws {
            let values: [DBusValue] = [.int64(number), .string(deed.rawValue)]
            var body = WireWriter()
            try DBusValue.encode(values, into: &body)
            let call = MethodCall(
                to: Self.name, path: Stream1.path(of: Quick1.name), interface: Quick1.name, member: "Count",
                signature: try DBusValue.signature(of: values), body: body.bytes)
            peer.connection.send(call, timeout: .seconds(300)) { result in
                switch result {
                case .success: peer.handler.note("\(number)")
                case .failure(let error): peer.handler.note("\(number): \(error.code)")
                }
            }
        }
        /// One that has proved short, and is waited for.
        func call(_ number: Int64, _ deed: Count.Deed = .nothing, from peer: BusFixture.Peer) async throws {
            try await prove()
            try send(number, deed, from: peer)
            #expect(await answered(number, peer))
        }
        func answered(_ number: Int64, _ peer: BusFixture.Peer) async -> Bool {
            await eventually { peer.handler.all.order.contains { $0 == "\(number)" || $0.hasPrefix("\(number):") } }
        }
        /// The service knows who the peer is.
        func peer() async throws -> BusFixture.Peer {
            let peer = try await fixture.peer()
            try await call(0, from: peer)
            return peer
        }
    }

    @Test("each peer's run in its order and are answered in it, wherever they run") func order() async throws {
        let site = try await Site()
        let peers = [try await site.peer(), try await site.peer()]
        for round in 0..<Int64(TestForm.rounds(5, soak: 200)) {
            try await site.prove()
            let numbers = round * 100 + 1...round * 100 + 60
            for number in numbers { for peer in peers { try site.send(number, from: peer) } }
            for peer in peers { #expect(await site.answered(numbers.upperBound, peer)) }
        }
        for peer in peers {
            let answers = peer.handler.all.order.compactMap { Int64($0) }.filter { $0 > 0 }
            #expect(answers.count >= 300 && answers == answers.sorted())
        }
        #expect(site.notes.contains { $0.hasSuffix("on the loop") })
        try await site.service.stop()
    }
    @Test("one that throws, or publishes, is answered behind what it published") func results() async throws {
        let site = try await Site()
        let peer = try await site.peer()
        let rule = MatchRule(sender: Site.name, interface: Quick1.name)
        _ = try await withCheckedThrowingContinuation { added in
            site.fixture.loop.execute { peer.connection.addMatch(rule) { added.resume(with: $0.map { _ in () }) } }
        }
        for number in 1...20 as ClosedRange<Int64> { try await site.call(number, .publish, from: peer) }
        try await site.call(21, .refuse, from: peer)
        try await site.call(22, from: peer)
        let seen = peer.handler.all.order.filter { $0 == "Ticked" || Int64($0) ?? 0 > 0 || $0.hasPrefix("21") }
        try #require(seen.count == 42, "\(seen)")
        #expect(seen.prefix(40) == (1...20).flatMap { ["Ticked", "\($0)"] }[...])
        #expect(seen[40].hasPrefix("21: ") && seen[41] == "22")
        #expect((1...22).allSatisfy { site.notes.contains("\($0) on the loop") })
        try await site.service.stop()
    }
    @Test("one that waits holds up its own peer's calls, and nothing else") func waiting() async throws {
        let site = try await Site()
        let (peer, other) = (try await site.peer(), try await site.peer())
        for round in 0..<Int64(10) {
            try await site.prove()
            try site.send(round * 10 + 1, .ask, from: peer)
            try site.send(round * 10 + 2, from: peer)
            try await site.call(round * 10 + 3, from: other)
            #expect(await site.answered(round * 10 + 2, peer))
            let notes = site.notes
            let (ended, begun) = (
                notes.firstIndex(of: "\(round * 10 + 1) ends"),
                notes.firstIndex { $0.hasPrefix("\(round * 10 + 2)") }
            )
            #expect(ended.map { begun ?? 0 > $0 } == true, "\(notes.suffix(8))")
        }
        #expect(site.notes.contains("1 on the loop"))
        try await site.service.stop()
    }
    @Test("one that blocks loses the loop; others are answered meanwhile, its peer's calls behind it") func blocking()
        async throws
    {
        let site = try await Site()
        let (peer, other) = (try await site.peer(), try await site.peer())
        try await site.prove()
        try site.send(1, .block, from: peer)
        try site.send(2, from: peer)
        #expect(await eventually { site.notes.contains("1 on the loop") })
        try site.send(3, from: other)
        #expect(await site.answered(3, other))
        #expect(await site.answered(2, peer))
        let notes = site.notes
        let order = ["1 ends", "2"].map { text in notes.firstIndex { $0.hasPrefix(text) } ?? -1 }
        #expect(order[0] >= 0 && order[0] < order[1], "\(notes)")
        try await site.call(4, from: peer)
        #expect(site.notes.contains("4 on the loop"))
        try await site.service.stop()
    }
    @Test("one that cancels its own task cancels no other peer's") func cancelling() async throws {
        let site = try await Site()
        let (peer, other) = (try await site.peer(), try await site.peer())
        try await site.call(1, .cancelItself, from: peer)
        for number in 2...20 as ClosedRange<Int64> {
            try await site.call(number, from: number.isMultiple(of: 2) ? other : peer)
        }
        #expect(!site.notes.contains { $0.hasSuffix("cancelled") })
        try await site.service.stop()
    }
    @Test("one may stop its service, which ends behind its reply") func stopping() async throws {
        let site = try await Site()
        let peer = try await site.peer()
        try await site.prove()
        try site.send(1, .stop, from: peer)
        #expect(await site.answered(1, peer))
        #expect(site.notes.contains("1 on the loop") && peer.handler.all.order.contains("1"))
        try await site.service.stop()
        #expect(site.service.core.queues.count == 0)
    }
}
