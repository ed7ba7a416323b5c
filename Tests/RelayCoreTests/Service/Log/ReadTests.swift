import Glibc
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayBus
@testable import RelayCore
import RelayWire

@Suite("Read", .heavy, .tags(.g2)) struct ReadTests {
    private static let error = "org.eventrelay.Error."

    /// Publishes `Booked` for odd, `Struck` for even numbers; their sequences are the numbers on a new log.
    private func fill(_ desk: DurableDesk, _ numbers: ClosedRange<Int64>, text: String = "") async throws {
        for number in numbers {
            if number % 2 == 1 {
                try await desk.service.publish(Booked(number: number, text: text))
            } else {
                try await desk.service.publish(Struck(number: number))
            }
        }
    }
    private func refusal(_ peer: BusStranger, _ call: MethodCall) async -> RemoteError? {
        do {
            _ = try await peer.connection.call(call)
            return nil
        } catch {
            return (error as? RelayError)?.cause as? RemoteError ?? RemoteError(name: "?", message: "\(error)")
        }
    }

    @Test("a page has typed events, as their signals were") func typed() async throws {
        let desk = try await DurableDesk()
        try await fill(desk, 1...3, text: "x")
        let read = try await desk.read(after: 0)
        let epoch = try await desk.attach().epoch
        #expect(read.page.epoch == epoch && read.page.oldest == 1 && read.page.through == 3 && read.page.head == 3)
        #expect(read.events.map(\.name) == ["Booked", "Struck", "Booked"])
        #expect(
            read.events.map(\.values)
                == desk.peer.signals.filter { ["Booked", "Struck"].contains($0.member) }.map(\.values))
        let schemas = try await desk.peer.connection.call(
            MethodCall(to: DurableDesk.name, path: DurableDesk.path, interface: Stream1.name, member: "Schemas")
        ).read(Stream1.schemasSignature) { try Stream1.readSchemas(&$0) }
        #expect(read.events.map { schemas[$0.schema]?.event } == ["Booked", "Struck", "Booked"])
        try await desk.stop()
    }
    @Test("a peer gets the kind of a failure to read, and the notice has its text, with the path") func unreadable()
        async throws
    {
        let desk = try await DurableDesk()
        try await desk.service.publish(Booked(number: 1, text: ""))
        func refusal(_ error: RelayError) async throws -> RemoteError? {
            desk.log.storage.failReading(error)
            defer { desk.log.storage.failReading(nil) }
            do {
                _ = try await desk.read(after: 0)
                return nil
            } catch {
                return (error as? RelayError)?.cause as? RemoteError
            }
        }
        let text = "the journal could not be read for \(Ledger1.name): "
        let disk = try await refusal(RelayError(.unavailable, "cannot read /a/path", cause: SystemError(EIO)))
        #expect(disk?.name == "org.eventrelay.Error.Unavailable")
        #expect(disk?.message == text + "the service's disk fails (Input/output error)")
        let other = try await refusal(RelayError(.notFound, "nothing in /a/path", cause: SystemError(EMFILE)))
        #expect(other?.name == "org.eventrelay.Error.NotFound")
        #expect(other?.message == text + "NotFound, caused by SystemError \(EMFILE)")
        #expect(
            await eventually {
                desk.notices.all(of: .readFailed).map(\.message) == [
                    text + "cannot read /a/path", text + "nothing in /a/path",
                ]
            }, "\(desk.notices.all)")
        // An `Attach` whose run the log was to find.
        let (core, peer) = (desk.service.core, desk.peer.connection.uniqueName)
        let log = try #require(core.interfaces.first?.log)
        desk.log.storage.failReading(RelayError(.unavailable, "no /b/path"))
        core.loop.withTurn {
            guard let connection = core.connection.onLoop else { return }
            let call = IncomingCall(
                connection, sender: peer, serial: 1, path: DurableDesk.path, interface: Stream1.name,
                member: "Attach", signature: "", body: [], wantsReply: true)
            core.reads.find(RunQuestion(epoch: 1, after: 1), in: Ledger1.name, log, for: call) { _ in }
        }
        #expect(await eventually { desk.notices.all(of: .readFailed).last?.message == text + "no /b/path" })
        try await desk.stop()
    }
    @Test("a person reads typed events with a tool that knows nothing of ours") func byHand() async throws {
        let desk = try await DurableDesk()
        try await fill(desk, 1...2, text: "a title")
        let call = [
            "--user", "--address=\(desk.bus.address)", "call", DurableDesk.name, DurableDesk.path, Stream1.name,
        ]
        let read = try await RunningProgram.run(
            "busctl", call + ["Read", Stream1.readSignature, "1", "*", "0", "0"])
        #expect(read.code == 0, "\(read)")
        let text = read.output.joined()
        #expect(text.hasPrefix("ta(suv)a(tt)ttt "), "\(read)")
        #expect(text.contains(#" 2 "Booked" "#) && text.contains(#"(xsttt) 1 "a title" 1 0 "#), "\(read)")
        #expect(text.contains(#"(xttt) 2 2 0 "#), "\(read)")
        let status = try await RunningProgram.run("busctl", call + ["Status"])
        #expect(status.output.joined().contains(#""Durability" s "durable""#), "\(status)")
        try await desk.stop()
    }
    @Test("names, position and limit choose") func choosing() async throws {
        let desk = try await DurableDesk()
        try await fill(desk, 1...7)
        func read(_ after: UInt64, _ limit: UInt32, _ names: [String]) async throws -> ReadPage {
            try await desk.read(after: after, limit: limit, names)
        }
        let some = try await read(2, 2, ["*"])
        #expect(some.sequences == [3, 4] && some.page.through == 4 && some.page.head == 7)
        let struck = try await read(0, 0, ["Struck"])
        #expect(struck.sequences == [2, 4, 6] && struck.page.through == 7)
        #expect(try await read(0, 0, ["Struck", "Booked"]).sequences == [1, 2, 3, 4, 5, 6, 7])
        #expect(try await read(7, 0, ["*"]).sequences == [])
        #expect(try await read(.max, 0, ["*"]).sequences == [])
        let epoch = try await desk.attach().epoch
        #expect(try await desk.attach(epoch, after: 100).from == 7, "nobody has what there is not")
        desk.log.storage.prune(Ledger1.name, through: 4)
        let rest = try await read(0, 0, ["Booked"])
        #expect(rest.sequences == [5, 7] && rest.page.oldest == 4)
        #expect(try await desk.attach(after: 0, ["Struck"]).oldest == 5)
        try await desk.stop()
    }
    @Test("a page is of one run, and a long one comes in parts") func paging() async throws {
        let first = try await DurableDesk()
        try await fill(first, 1...3)
        let epoch = try await first.attach().epoch
        let desk = try await first.restarted()
        let text = String(repeating: "y", count: 100_000)
        try await desk.service.publish(contentsOf: (4...13).map { Booked(number: $0, text: text) })
        var (seen, pages, after) = ([UInt64](), [ReadPage](), UInt64(0))
        while after < 13 {
            let read = try await desk.read(after: after)
            after = read.page.through
            seen += read.sequences
            pages.append(read)
        }
        #expect(seen == Array(1...13))
        #expect(pages.map(\.sequences.count) == [3, 2, 2, 2, 2, 2])
        #expect(pages.map { $0.page.epoch == epoch } == [true] + Array(repeating: false, count: 5))
        #expect(pages.allSatisfy { $0.count < 300_000 })
        try await desk.stop()
    }
    @Test("names of an earlier version of the contract can be read, and attached to") func earlier() async throws {
        let (bus, log) = (try PrivateBus(), MemoryLog())
        let old = try EventService(name: DurableDesk.name, on: bus.bus, exporting: OldLedger1.self, journal: log)
        try await old.publish(Lapsed(reason: 7))
        let desk = try await DurableDesk(bus, log.reopened())
        try await fill(desk, 1...1)
        let read = try await desk.read(after: 0)
        #expect(read.events.map(\.name) == ["Lapsed"])
        #expect(read.events.first?.values.first == .int32(7))
        let again = try await desk.read(after: 0, ["Lapsed"])
        #expect(again.sequences == [1])
        let attached = try await desk.attach(after: 0, ["Lapsed"])
        #expect(attached.last == ["Lapsed": 1, "Booked": 2])
        try await desk.stop()
    }

    // MARK: Limits

    private func received(_ serial: UInt32, by peer: BusStranger) async throws {
        _ = try await peer.call(DurableDesk.name, "/", Stream1.name, "Received", [.uint32(serial)])
    }

    @Test("the next page costs the proof that the last one was read") func proof() async throws {
        let desk = try await DurableDesk()
        try await fill(desk, 1...4)
        let ledger = desk.service.core.ledger
        desk.peer.confirms = false
        desk.service.core.replies.unread.withLock { $0.isKnowable = false }
        let first = try await desk.read(after: 0, limit: 1)
        let serial = try #require(desk.peer.unconfirmed.first)
        #expect(first.sequences == [1] && ledger.held(.pages) == first.count)
        for wrong in [0, 7, serial ^ 1] {
            try await received(wrong, by: desk.peer)
            let refused = try await refusal(desk.peer, DurableDesk.request(after: 1))
            #expect(refused?.name == Self.error + "LimitsExceeded")
        }
        try await received(serial, by: desk.peer)
        #expect(ledger.held(.pages) == 0)
        let second = try await desk.read(after: 1, limit: 1)
        #expect(second.sequences == [2])
        desk.peer.confirms = true
        #expect(try await desk.read(after: 2, limit: 1).sequences == [3])
        // Another peer has its own; and one that comes back under another name starts anew.
        let other = try await BusStranger.join(desk.bus.bus)
        #expect(try await desk.read(after: 0, by: other).sequences == [1, 2, 3, 4])
        try await desk.stop()
    }
    @Test("a refusal that was read proves that the page before it was, or that the bus has dropped it") func lostPage()
        async throws
    {
        let desk = try await DurableDesk()
        try await fill(desk, 1...4)
        desk.peer.confirms = false
        desk.service.core.replies.unread.withLock { $0.isKnowable = false }
        _ = try await desk.read(after: 0, limit: 1)
        // As if it had never come: nobody knows its serial.
        for _ in 1...100 {
            let refused = try await refusal(desk.peer, DurableDesk.request(after: 0))
            #expect(refused?.name == Self.error + "LimitsExceeded", "each is answered")
        }
        // An older one proves nothing of what is newer; it is no longer kept, either.
        let serials = desk.peer.unconfirmed
        #expect(serials.count == 101)
        try await received(serials[50], by: desk.peer)
        #expect(desk.service.core.ledger.held(.pages) > 0)
        try await received(serials[100], by: desk.peer)
        #expect(desk.service.core.ledger.held(.pages) == 0)
        #expect(try await desk.read(after: 0, limit: 1).sequences == [1])
        try await desk.stop()
    }
    @Test("a tool that confirms nothing gets its next page, where the bus says what it has read") func tool()
        async throws
    {
        let desk = try await DurableDesk()
        try await fill(desk, 1...4)
        desk.peer.confirms = false
        for after in 0...3 as ClosedRange<UInt64> {
            #expect(
                await eventually {
                    (try? await desk.read(after: after, limit: 1))?.sequences == [after + 1]
                })
        }
        try await desk.stop()
    }
    @Test("Reads that come at once are answered with one page, and the others are refused") func pipelined()
        async throws
    {
        let desk = try await DurableDesk()
        try await fill(desk, 1...4)
        desk.peer.confirms = false
        desk.service.core.replies.unread.withLock { $0.isKnowable = false }
        let answers = Mutex((pages: 0, refusals: 0))
        for _ in 0..<100 {
            desk.peer.connection.send(try DurableDesk.request(after: 0)) { result in
                answers.withLock { answers in
                    switch result.map({ $0.signature }) {
                    case .success(Stream1.pageSignature): answers.pages += 1
                    case .failure(.limitsExceeded): answers.refusals += 1
                    default: break
                    }
                }
            }
        }
        #expect(await eventually { answers.withLock { $0.pages + $0.refusals == 100 } })
        #expect(answers.withLock { $0 == (1, 99) })
        try await desk.stop()
    }
    @Test("a user's peers that prove nothing use up that user's room, and give it back when they leave")
    func users() async throws {
        let desk = try await DurableDesk()
        let text = String(repeating: "y", count: 64 << 10)
        try await desk.service.publish(contentsOf: (1...4).map { Booked(number: $0, text: text) })
        var peers: [BusStranger] = []
        var refused: RemoteError?
        while refused == nil, peers.count < 40 {
            let peer = try await BusStranger.join(desk.bus.bus)
            peer.confirms = false
            refused = await refusal(peer, try DurableDesk.request(after: 0))
            peers.append(peer)
        }
        #expect(refused?.name == Self.error + "LimitsExceeded")
        #expect(16...21 ~= peers.count, "\(peers.count)")
        let late = try #require(peers.last)
        #expect(await refusal(late, try DurableDesk.request(after: 0)) != nil)
        peers[0].connection.close()
        #expect(
            await eventually {
                guard let request = try? DurableDesk.request(after: 0) else { return false }
                return await refusal(late, request) == nil
            })
        try await desk.stop()
    }

    // MARK: Refusals

    @Test("what cannot be read is refused, by name") func refused() async throws {
        let desk = try await DurableDesk()
        try await fill(desk, 1...1)
        func name(_ call: MethodCall) async -> String? { await refusal(desk.peer, call)?.name }
        #expect(await name(try DurableDesk.request(after: 0, ["Nobody"])) == Self.error + "NotFound")
        #expect(await name(try DurableDesk.request(after: 0, of: Plain1.name)) == Self.error + "NotFound")
        #expect(await name(try DurableDesk.request(after: 0, [])) == "org.freedesktop.DBus.Error.InvalidArgs")
        var call = try DurableDesk.request(after: 0)
        (call.signature, call.body) = (.empty, [])
        #expect(await name(call) == "org.freedesktop.DBus.Error.InvalidArgs")
        call = try DurableDesk.request(after: 0, Array(repeating: "Booked", count: Stream1.maximumNames + 1))
        #expect(await name(call) == "org.freedesktop.DBus.Error.InvalidArgs")
        // None of that has cost a page.
        #expect(try await desk.read(after: 0).sequences == [1])
        try await desk.stop()
    }
    @Test("a restricted interface is read by nobody else") func restricted() async throws {
        let (bus, log) = (try PrivateBus(), MemoryLog())
        let service = try EventService(
            name: DurableDesk.name, on: bus.bus, exporting: Vault1.self, Safe1.self, journal: log)
        let ready = Atomic<Bool>(false)
        let running = Task { try await service.run { ready.store(true, ordering: .releasing) } }
        #expect(await eventually { ready.load(ordering: .acquiring) })
        try await service.publish(Locked(number: 1))
        try await service.publish(Opened(number: 2))
        let peer = try await BusStranger.join(bus.bus)
        let call = try DurableDesk.request(after: 0, of: Vault1.name)
        #expect(await refusal(peer, call)?.name == Self.error + "NotPermitted")
        let status = await peer.refusal(DurableDesk.name, Stream1.path(of: Vault1.name), Stream1.name, "Status")
        #expect(status?.name == Self.error + "NotPermitted")
        // The one of the two that is for this user.
        let page = try ReadPage(await peer.connection.call(DurableDesk.request(after: 0, of: Safe1.name)))
        #expect(page.sequences == [1])
        running.cancel()
        try await running.value
    }
}

/// An earlier version of `Ledger1`.
enum OldLedger1: EventInterface {
    static let name = Ledger1.name
    static var contract: Contract<Self> { Lapsed.self }
}
struct Lapsed: DomainEvent {
    typealias Interface = OldLedger1
    var reason: Int32
}
enum Vault1: EventInterface {
    static let name = "org.example.Vault1"
    static var requirement: PeerRequirement { .user("no such user") }
    static var contract: Contract<Self> { Locked.self }
}
struct Locked: DomainEvent {
    typealias Interface = Vault1
    var number: Int64
}
enum Safe1: EventInterface {
    static let name = "org.example.Safe1"
    static var requirement: PeerRequirement { .sameUser || .user("no such user") }
    static var contract: Contract<Self> { Opened.self }
}
struct Opened: DomainEvent {
    typealias Interface = Safe1
    var number: Int64
}
