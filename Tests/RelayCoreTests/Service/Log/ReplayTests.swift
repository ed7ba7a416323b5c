import Glibc
import RelayTestKit
import TestTraits
import Testing

@testable import RelayCore
import RelayWire

/// Pages through a socket: `OpenReplay` and `Replay`.
@Suite("Replays through a socket", .heavy, .tags(.g2)) struct ReplayTests {
    private static func ends(_ type: __socket_type = SOCK_STREAM) throws -> (
        ours: ReceivedDescriptor, theirs: ReceivedDescriptor
    ) {
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(type.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
        var room: Int32 = 512 << 10
        setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &room, socklen_t(MemoryLayout<Int32>.size))
        return (ReceivedDescriptor(ends[0]), ReceivedDescriptor(ends[1]))
    }
    private static func offer(_ descriptor: ReceivedDescriptor, _ desk: DurableDesk, by peer: BusStranger? = nil)
        async throws
    {
        var call = MethodCall(
            to: DurableDesk.name, path: DurableDesk.path, interface: Stream1.name, member: "OpenReplay")
        call.descriptors = [descriptor]
        _ = try await (peer ?? desk.peer).connection.call(call)
    }
    private static func replay(
        _ desk: DurableDesk, after: UInt64 = 0, by peer: BusStranger? = nil
    ) async throws -> Int {
        var call = try DurableDesk.request(after: after)
        call.member = "Replay"
        return try await (peer ?? desk.peer).connection.call(call).read(Stream1.replaySignature) {
            Int(try $0.uint32())
        }
    }
    private static func read(_ count: Int, _ socket: ReceivedDescriptor) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let read = socket.withNumber { recv($0, &bytes, count, Int32(MSG_DONTWAIT) | Int32(MSG_WAITALL)) }
        return Array(bytes.prefix(max(0, read)))
    }
    private static func code(_ body: () async throws -> Void) async -> RelayError.Code? {
        do {
            try await body()
            return nil
        } catch { return (error as? RelayError)?.code }
    }

    @Test("G2: a page in the socket is what Read answers, and is to be proved for both") func same() async throws {
        let desk = try await DurableDesk()
        try await desk.service.publish(contentsOf: (1...5).map { Booked(number: $0, text: "text \($0)") })
        #expect(await Self.code { _ = try await Self.replay(desk) } == .conflict, "there is no socket yet")
        let (ours, theirs) = try Self.ends()
        try await Self.offer(theirs, desk)
        desk.peer.confirms = false
        let count = try await Self.replay(desk, after: 2)
        let bytes = Self.read(count, ours)
        let page = try ReadPage(BusReply(sender: "", signature: Stream1.pageSignature, body: bytes))
        #expect(page.sequences == [3, 4, 5] && page.page.through == 5)
        #expect(await Self.code { _ = try await desk.read(after: 2) } == .limitsExceeded, "the page is not proved")
        desk.peer.confirms = true
        let read = try await desk.read(after: 2)
        #expect(read.events == page.events && read.count == count)
        #expect(try await Self.replay(desk, after: 5) > 0)
        try await desk.stop()
    }
    @Test("what is no stream socket is refused, and so are too many") func refused() async throws {
        let desk = try await DurableDesk()
        let (_, datagrams) = try Self.ends(SOCK_DGRAM)
        #expect(await Self.code { try await Self.offer(datagrams, desk) } == .invalidArgument)
        let file = ReceivedDescriptor(open("/dev/null", O_RDWR | O_CLOEXEC))
        #expect(await Self.code { try await Self.offer(file, desk) } == .invalidArgument)
        let call = MethodCall(
            to: DurableDesk.name, path: DurableDesk.path, interface: Stream1.name, member: "OpenReplay")
        #expect(await Self.code { _ = try await desk.peer.connection.call(call) } == .invalidArgument)
        let ledger = PeerLedger()
        var sockets = ReplaySockets()
        func add(_ peer: String, _ user: UInt32) throws -> PeerLedger.Refusal? {
            ledger.arrive(peer)
            ledger.identify(peer, user: user)
            let socket = try ReplaySocket(Self.ends().theirs)
            do throws(PeerLedger.Refusal) { try sockets.add(socket, of: peer, ledger) } catch { return error }
            return nil
        }
        for number in 0..<PeerResource.replaySockets.bounds.share { #expect(try add(":1.\(number)", 7) == nil) }
        #expect(try add(":1.64", 7)?.message.contains("the peers of user 7 have 64 of at most 64") == true)
        #expect(try add(":1.5", 7) == nil, "in place of its first")
        #expect(try add(":2.1", 8) == nil)
        sockets.depart(":1.5")
        #expect(try add(":1.65", 7) == nil)
        try await desk.stop()
    }
    /// Both ends of a connection to a name in the abstract namespace.
    private static func named() throws -> (connected: ReceivedDescriptor, accepted: ReceivedDescriptor) {
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let listener = ReceivedDescriptor(socket(AF_UNIX, kind, 0))
        let connected = ReceivedDescriptor(socket(AF_UNIX, kind, 0))
        let accepted = try listener.withNumber { listener in
            var (address, size) = (sockaddr_un(), socklen_t(MemoryLayout<sockaddr_un>.size))
            address.sun_family = sa_family_t(AF_UNIX)
            try withUnsafeMutablePointer(to: &address) { pointer in
                try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    // Of the family alone: the kernel finds a name.
                    try #require(bind(listener, address, socklen_t(MemoryLayout<sa_family_t>.size)) == 0)
                    try #require(listen(listener, 1) == 0 && getsockname(listener, address, &size) == 0)
                    try #require(connected.withNumber { connect($0, address, size) } == 0)
                }
            }
            return accept(listener, nil, nil)
        }
        try #require(accepted >= 0)
        return (connected, ReceivedDescriptor(accepted))
    }
    @Test("G7: a socket that another service may have accepted gets nothing of this service's") func deputy()
        async throws
    {
        let desk = try await DurableDesk()
        let ends = try Self.named()
        for end in [ends.connected, ends.accepted] {
            #expect(await Self.code { try await Self.offer(end, desk) } == .invalidArgument)
        }
        let unconnected = ReceivedDescriptor(socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0))
        #expect(await Self.code { try await Self.offer(unconnected, desk) } == .invalidArgument)
        #expect(await Self.code { _ = try await Self.replay(desk) } == .conflict)
        try await desk.stop()
    }
    @Test("a socket that is full, or of which nobody reads, is given up; Read goes on") func full() async throws {
        let desk = try await DurableDesk()
        let text = String(repeating: "x", count: 60_000)
        try await desk.service.publish(contentsOf: (1...4).map { Booked(number: $0, text: text) })
        let (ours, theirs) = try Self.ends()
        try await Self.offer(theirs, desk)
        // Nothing is read: its pages stay in the socket, until one has no room.
        var pages = 0
        let code = await Self.code {
            for _ in 0..<16 {
                _ = try await Self.replay(desk)
                pages += 1
            }
        }
        #expect(code == .conflict && pages > 0, "\(pages)")
        #expect(await Self.code { _ = try await Self.replay(desk) } == .conflict, "it is given up")
        #expect(try await desk.read(after: 0).sequences == [1, 2, 3, 4])
        withExtendedLifetime(ours) {}
        let gone = try await BusStranger.join(desk.bus.bus)
        try await Self.offer(try Self.ends().theirs, desk, by: gone)
        #expect(await Self.code { _ = try await Self.replay(desk, by: gone) } == .conflict)
        try await desk.stop()
    }
    @Test("G2: a relay reads a long past through its socket, large events by Read, all in order")
    func relay() async throws {
        let desk = try await DurableDesk()
        let (short, long) = (String(repeating: "x", count: 1_000), String(repeating: "y", count: 600_000))
        // Some pages, one with a single large event, and more pages.
        try await desk.service.publish(contentsOf: (1...1_000).map { Booked(number: $0, text: short) })
        try await desk.service.publish(Booked(number: 1_001, text: long))
        try await desk.service.publish(contentsOf: (1_002...2_000).map { Booked(number: $0, text: short) })
        let relay = try PositionedTests.relay(desk.bus)
        let seen = Log<Int64>()
        let subscription = try relay.subscribe(to: Booked.self, from: .beginning) { event in
            seen.add(event.text.utf8.count == (event.number == 1_001 ? 600_000 : 1_000) ? event.number : -1)
        } onGap: { _ in
        }
        relay.activate()
        #expect(await eventually { seen.count == 2_000 })
        #expect(seen.values == Array(1...2_000))
        #expect(relay.follower.replayedPages >= 3)
        try await desk.service.publish(Booked(number: 2_001, text: short))
        #expect(await eventually { seen.count == 2_001 })
        subscription.cancel()
        try await desk.stop()
    }
    /// Pages of more than 64 KiB, which are worth a socket.
    private static func fake(_ bus: Bus, _ count: Int64) async throws -> FakeService {
        let service = try await FakeService.start(
            DurableDesk.name, Ledger1.name, on: bus, epoch: 7, schemas: HoleTests.schemas, isDurable: true)
        let text = String(repeating: "x", count: 100)
        for number in 1...count { service.append("Booked", schema: 0, [.int64(number), .string(text)]) }
        return service
    }
    private static func replayed(_ bus: PrivateBus, _ count: Int) async throws -> (numbers: [Int64], pages: Int) {
        let relay = try PositionedTests.relay(bus)
        let seen = Log<Int64>()
        let subscription = try relay.subscribe(to: Booked.self, from: .beginning) {
            seen.add($0.number)
        } onGap: { _ in
        }
        relay.activate()
        #expect(await eventually { seen.count >= count })
        subscription.cancel()
        relay.invalidate()
        return (seen.values, relay.follower.replayedPages)
    }
    @Test("G2: beside a service that knows no replays through sockets, all is read by Read") func lacking() async throws
    {
        let bus = try PrivateBus()
        let service = try await Self.fake(bus.bus, 5_000)
        let replayed = try await Self.replayed(bus, 5_000)
        #expect(replayed.numbers == Array(1...5_000) && replayed.pages == 0)
        #expect(service.replayCalls.isEmpty && service.unproved == 0)
        service.vanish()
    }
    @Test("G2: a relay whose socket is full goes on by Read, and loses and repeats nothing") func fallsBack()
        async throws
    {
        let bus = try PrivateBus()
        let service = try await Self.fake(bus.bus, 8_000)
        service.offerReplays(pages: 2)
        let replayed = try await Self.replayed(bus, 8_000)
        #expect(replayed.numbers == Array(1...8_000) && replayed.pages == 2)
        // The third one was refused; the socket is not offered again.
        #expect(service.replayCalls == ["OpenReplay", "Replay", "Replay", "Replay"])
        #expect(service.unproved == 0)
        service.vanish()
    }
    /// The most memory that this process has had mapped, in bytes.
    private static func peak() throws -> Int {
        let file = try #require(fopen("/proc/self/status", "r"))
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, Int32(line.count), file) != nil {
            let text = line.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
            if text.hasPrefix("VmPeak:") { return (Int(text.filter(\.isNumber)) ?? 0) << 10 }
        }
        return 0
    }
    @Test(
        "a page that is longer than any is not taken, nor memory for it; what is lacking comes by Read",
        arguments: [
            UInt32.max, 1 << 20 + 1, 1 << 20,
        ] as [UInt32]) func claims(size: UInt32) async throws
    {
        let bus = try PrivateBus()
        let service = try await Self.fake(bus.bus, 3_000)
        service.offerReplays(pages: .max, claiming: size)
        let before = try Self.peak()
        let replayed = try await Self.replayed(bus, 3_000)
        #expect(replayed.numbers == Array(1...3_000) && replayed.pages == 0)
        #expect(service.replayCalls == ["OpenReplay", "Replay"], "nobody knows what the socket has next")
        #expect(service.unproved == 0)
        #expect(try Self.peak() - before < 2 << 30)
        service.vanish()
    }
    @Test("of all users together there are so many sockets, too") func together() throws {
        let (ledger, bounds) = (PeerLedger(), PeerResource.replaySockets.bounds)
        var sockets = ReplaySockets()
        func add(_ number: Int, user: UInt32) throws {
            let peer = ":1.\(number)"
            ledger.arrive(peer)
            ledger.identify(peer, user: user)
            try sockets.add(try ReplaySocket(Self.ends().theirs), of: peer, ledger)
        }
        for number in 0..<bounds.total { try add(number, user: UInt32(number / bounds.share)) }
        let refusal = #expect(throws: PeerLedger.Refusal.self) { try add(999, user: 99) }
        #expect(refusal?.bound == 256 && refusal?.holder == .all && sockets.count == bounds.total)
    }
    @Test("G2: a handler that ends its subscription within a page gets no more of it") func endsWithin() async throws {
        let desk = try await DurableDesk()
        try await desk.service.publish(contentsOf: (1...500).map { Booked(number: $0, text: "") })
        let relay = try PositionedTests.relay(desk.bus)
        let seen = Log<Int64>()
        let own = Holder<Subscription>()
        let others = Log<Int64>()
        let subscription = try relay.subscribe(to: Booked.self, from: .beginning) { event in
            seen.add(event.number)
            if event.number == 100 { own.value?.cancel() }
        } onGap: { _ in
        }
        own.hold(subscription)
        let other = try relay.subscribe(to: Booked.self, from: .beginning) {
            others.add($0.number)
        } onGap: { _ in
        }
        relay.activate()
        #expect(await eventually { others.count == 500 && !subscription.isActive })
        #expect(seen.values == Array(1...100))
        other.cancel()
        try await desk.stop()
    }
}
