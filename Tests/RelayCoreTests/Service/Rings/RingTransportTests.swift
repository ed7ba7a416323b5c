import Glibc
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore
import RelayWire
import RelayInspection

/// The ring as a stream, from the service's end: a bus, a service, and peers that know the protocol and no more.
@Suite("The ring transport", .heavy, .tags(.g1, .g2)) struct RingTransportTests {
    @Test("every peer gets the one ring and a page of its own, and the ring has what is published from then on")
    func open() async throws {
        let desk = try await Desk()
        try desk.service.publish(Torn(number: 1))
        let (first, second) = (try await RingPeer.join(desk.bus.bus), try await RingPeer.join(desk.bus.bus))
        var one = try await first.openRing(Desk.name, Desk1.name)
        var two = try await second.openRing(Desk.name, Desk1.name)
        #expect(
            one.header.base == 1 && one.header.events.map(\.name) == ["Noted", "Torn"] && one.header.ringIndex == 0)
        for number: Int64 in 2...100 {
            if number % 3 == 0 {
                try desk.service.publish(Noted(text: "number \(number)", number: number))
            } else {
                try desk.service.publish(Torn(number: number))
            }
        }
        let (records, others) = (try await first.drain(&one, to: 100), try await second.drain(&two, to: 100))
        #expect(records == others)
        #expect(records.map(\.sequence) == Array(2...100))
        #expect(records.map(\.kind) == (2...100).map { $0 % 3 == 0 ? 0 : 1 })
        #expect(records[0].previous == 1 && records[1].previous == 0 && records[2].previous == 2)
        // The wire encoding of the fields, without the stamp.
        let codec = try WireCodec(event: Noted.self)
        let last = try #require(records.last { $0.kind == 0 })
        let noted = try last.payload.withUnsafeBytes { try codec.decode($0) }
        #expect(noted == Noted(text: "number 99", number: 99))
        #expect(desk.service.core.interfaces[0].stream.hasRing)
        try await desk.stop()
        #expect(try one.next() == .ended)
        #expect(try two.next() == .ended)
    }
    @Test("a fixed-layout event is in the ring as it is, and on the bus as ever; paused, in the ring alone")
    func raw() async throws {
        let desk = try await RingDesk()
        let peer = try await RingPeer.join(desk.bus.bus)
        try await peer.stranger.listen(Meter1.name)
        var ring = try await peer.openRing(RingDesk.name, Meter1.name)
        #expect(ring.header.events == [try RingEvent(Metered.self), RingEvent(name: "Labelled")])
        let (metered, labelled) = (Metered(value: 1.5, number: 7), Labelled(text: "a"))
        for isPaused in [false, true, false] {
            try desk.pause(Meter1.name, isPaused)
            try desk.service.publish(metered)
            try desk.service.publish(labelled)
        }
        let records = try await peer.drain(&ring, to: 6)
        #expect(records.map(\.sequence) == Array(1...6) && records.map(\.previous) == [0, 0, 1, 2, 3, 4])
        let (raw, wire) = (withUnsafeBytes(of: metered) { Array($0) }, [1, 0, 0, 0, UInt8(ascii: "a"), 0])
        #expect(records.map(\.payload) == [raw, wire, raw, wire, raw, wire])
        // The same stamps on the bus, but for what was published while it was given nothing.
        func stamps() -> [[DBusValue]] { peer.stamps(of: ["Metered", "Labelled"]) }
        #expect(await eventually { stamps().count == 4 })
        #expect(
            stamps()
                == [records[0], records[1], records[4], records[5]].map {
                    [.uint64($0.sequence), .uint64($0.previous), .uint64($0.publishedAt.microseconds)]
                })
        try await desk.stop()
    }
    @Test("without a ring, a publish while signals are paused has its place all the same") func pausedAlone()
        async throws
    {
        let desk = try await RingDesk()
        try desk.pause(Meter1.name, true)
        try desk.service.publish(Metered(value: 1, number: 1))
        try desk.service.publish(Labelled(text: "x"))
        #expect(throws: RelayError.self) { try desk.service.publish(Labelled(text: "a\0b")) }
        #expect(try desk.stream(Meter1.name).sequence == 2)
        try await desk.stop()
    }
    @Test("what was committed is in the ring as its signal's fields, also of a fixed layout") func durable()
        async throws
    {
        let desk = try await RingDesk()
        let peer = try await RingPeer.join(desk.bus.bus)
        try await peer.stranger.listen(SmallLedger1.name)
        try await desk.service.publish(Entered(text: "before"))
        var ring = try await peer.openRing(RingDesk.name, SmallLedger1.name)
        #expect(
            ring.header.base == 1 && ring.header.events.allSatisfy { $0.rawSize == nil } && ring.header.ringIndex == 1)
        try await desk.service.publish(Entered(text: "abc"))
        try await desk.service.publish(Weighed(weight: 2.5))
        try await desk.service.publish(Entered(text: String(repeating: "x", count: 20_000)))
        try await desk.service.publish(contentsOf: (1...100).map { Weighed(weight: Double($0)) })
        let records = try await peer.drain(&ring, to: 104)
        #expect(records.map(\.sequence) == Array(2...104) && records.prefix(3).map(\.previous) == [1, 0, 2])
        let (entered, weighed) = (try WireCodec(event: Entered.self), try WireCodec(event: Weighed.self))
        #expect(
            try records[0].payload.withUnsafeBytes { try entered.decode($0) }
                == Entered(text: "abc"))
        #expect(
            try records[1].payload.withUnsafeBytes { try weighed.decode($0) }
                == Weighed(weight: 2.5))
        // Too large for a ring of 64 KiB: it says so, and the journal has it.
        #expect(records.map(\.isTooLarge) == [false, false, true] + [Bool](repeating: false, count: 100))
        func stamps() -> [[DBusValue]] { peer.stamps(of: ["Entered", "Weighed"]) }
        #expect(await eventually { stamps().count == 104 })
        #expect(
            Array(stamps().dropFirst())
                == records.map {
                    [.uint64($0.sequence), .uint64($0.previous), .uint64($0.publishedAt.microseconds)]
                })
        try await desk.stop()
    }
    @Test("a volatile event that no ring could hold is refused, and takes no place", arguments: [false, true])
    func tooLarge(isPaused: Bool) async throws {
        let desk = try await RingDesk()
        try desk.pause(Meter1.name, isPaused)
        let most = RingLayout.maximumPayload(Meter1.ringCapacity) - 5
        try desk.service.publish(Labelled(text: String(repeating: "x", count: most)))
        do {
            try desk.service.publish(Labelled(text: String(repeating: "x", count: most + 1)))
            Issue.record("was published")
        } catch .tooLarge {}
        #expect(try desk.stream(Meter1.name).sequence == 1)
        try await desk.stop()
    }
    @Test("whoever may not subscribe gets no ring, and an interface may have none") func refusals() async throws {
        let desk = try await RingDesk()
        let peer = try await RingPeer.join(desk.bus.bus)
        func refusal(_ interface: String) async -> String? {
            await peer.stranger.refusal(RingDesk.name, Stream1.path(of: interface), Stream1.name, "OpenRing")?.name
        }
        #expect(await refusal(Private1.name) == ErrorNames.name(for: .notPermitted))
        #expect(await refusal(Ringless1.name) == ErrorNames.name(for: .notFound))
        #expect(try !desk.stream(Private1.name).hasRing)
        try desk.service.publish(Confided(number: 1))
        try desk.service.publish(Called(number: 1))
        try await desk.stop()
    }
    @Test("memory that there was none of is not asked for at every call") func noMemory() async throws {
        let desk = try await RingDesk()
        let stream = try desk.stream(Meter1.name)
        let peer = try await RingPeer.join(desk.bus.bus)
        let error = RelayError(.unavailable, "no memory")
        stream.withRing { $0.failure = (error, .max) }
        let refusal = await peer.stranger.refusal(RingDesk.name, stream.path, Stream1.name, "OpenRing")
        #expect(refusal == RemoteError(name: ErrorNames.name(for: .unavailable), message: "no memory"))
        #expect(desk.service.metrics.notices[Notice.Kind.ringUnavailable.rawValue] == 1)
        stream.withRing { $0.failure = (error, 0) }
        _ = try await peer.openRing(RingDesk.name, Meter1.name)
        try await desk.stop()
    }
    @Test("a capacity that is none is refused when the interface is registered") func capacities() throws {
        enum Odd1: EventInterface {
            static let name = "org.example.Odd1"
            static let durability = Volatile()
            static let ringCapacity = 100_000
            static var contract: Contract<Self> {}
        }
        enum Tiny1: EventInterface {
            static let name = "org.example.Tiny1"
            static let durability = Volatile()
            static let ringCapacity = 32 << 10
            static var contract: Contract<Self> {}
        }
        enum Negative1: EventInterface {
            static let name = "org.example.Negative1"
            static let durability = Volatile()
            static let ringCapacity = Int.min
            static var contract: Contract<Self> {}
        }
        for interface: any EventInterface.Type in [Odd1.self, Tiny1.self, Negative1.self] {
            #expect(throws: RelayError.self) { try EventService(name: Desk.name, exporting: interface) }
        }
    }
    @Test("the ring has an event before its signal is sent", arguments: [false, true]) func ringFirst(isDurable: Bool)
        async throws
    {
        let desk = try await RingDesk()
        let interface = isDurable ? SmallLedger1.name : Meter1.name
        let peer = try await RingPeer.join(desk.bus.bus)
        let ring = try await peer.openRing(RingDesk.name, interface)
        let found = try desk.stream(interface).withSignals { signals, _ in
            // No tick: on a busy machine a second may pass without an event, and its `Head` would count as a signal here.
            signals.hasTick = true
            return signals.connection
        }
        let connection = try #require(found)
        func publish() async throws {
            if isDurable {
                try await desk.service.publish(Weighed(weight: 1))
            } else {
                try desk.service.publish(Metered(value: 1, number: 1))
            }
        }
        // Nobody takes them from the bus: each signal that is sent shows by its size, which they all share.
        kill(desk.bus.processID, SIGSTOP)
        defer { kill(desk.bus.processID, SIGCONT) }
        while connection.outgoingBytes == 0 { try await publish() }
        let (sent, written) = (connection.outgoingBytes, ring.lag)
        try await publish()
        let size = (signal: connection.outgoingBytes - sent, record: Int(ring.lag - written))
        let isDone = Atomic(false)
        let (results, result) = AsyncStream.makeStream(of: Int.self)
        // On a thread of its own: it looks all the time.
        let watcher = try BusLoop(name: "watcher")
        defer { watcher.stop() }
        watcher.execute {
            var faults = 0
            while !isDone.load(ordering: .acquiring) {
                let signals = (connection.outgoingBytes - sent) / size.signal
                if Int(ring.lag - written) / size.record < signals { faults += 1 }
            }
            result.yield(faults)
        }
        // A durable one waits for its turn among all that the machine does: each time.
        for _ in 0..<(isDurable ? 500 : 5_000) { try await publish() }
        isDone.store(true, ordering: .releasing)
        let faults = await results.first { _ in true }
        #expect(faults == 0)
        kill(desk.bus.processID, SIGCONT)
        try await desk.stop()
    }
    @Test("who sleeps is woken by every way to publish") func waking() async throws {
        let desk = try await RingDesk()
        let peer = try await RingPeer.join(desk.bus.bus)
        for interface in [Meter1.name, SmallLedger1.name] { _ = try await peer.openRing(RingDesk.name, interface) }
        let page = try #require(
            try desk.stream(Meter1.name).withRing { $0.readers[peer.stranger.connection.uniqueName] })
        /// As a sleeper does: a flag that was seen is taken down.
        func isWoken(_ publish: () async throws -> Void) async throws -> Bool {
            page.flag.storeBytes(of: 1, as: UInt32.self)
            try await publish()
            // By this thread, or a moment later by the waker's, when it was woken just before.
            return await eventually { !page.isFlagged }
        }
        #expect(try await isWoken { try desk.service.publish(Labelled(text: "x")) })
        #expect(try await isWoken { try desk.service.publish(Metered(value: 1, number: 1)) })
        #expect(try await isWoken { try await desk.service.publish(Weighed(weight: 1)) })
        try desk.pause(Meter1.name, true)
        #expect(try await isWoken { try desk.service.publish(Labelled(text: "x")) })
        #expect(try await isWoken { try desk.service.publish(Metered(value: 1, number: 1)) })
        #expect(try await isWoken { try await desk.stop() })
    }
    @Test("nobody looks at a page that its peer can still take away: it is woken when it has mapped and sealed it")
    func settling() async throws {
        let desk = try await RingDesk()
        let peer = try await RingPeer.join(desk.bus.bus)
        let path = Stream1.path(of: Meter1.name)
        func attach() async throws {
            let names = DBusValue.array(.string, [.string("*")])
            _ = try await peer.stranger.call(
                RingDesk.name, path, Stream1.name, "Attach", [.uint64(0), .uint64(0), names, AttachOptions().value])
        }
        let reply = try await peer.call(RingDesk.name, Meter1.name)
        let page = try #require(
            try desk.stream(Meter1.name).withRing { $0.readers[peer.stranger.connection.uniqueName] })
        try await attach()
        #expect(!page.isSettled)
        page.flag.storeBytes(of: 1, as: UInt32.self)
        try desk.service.publish(Labelled(text: "x"))
        #expect(page.isFlagged)
        // Mapped, then sealed. It fell asleep over a record.
        let waiter = try reply.descriptors[1].withNumber { try RingWaiter(receiving: $0) }
        let area = try reply.descriptors[0].withNumber { try RingArea(receiving: $0) }
        try await attach()
        #expect(!page.isSettled)
        #expect(reply.descriptors[1].withNumber { WaitPage.seal($0) } && !page.isSettled)
        try await attach()
        #expect(page.isSettled)
        #expect(await eventually { !page.isFlagged })
        withExtendedLifetime((waiter, area)) {}
        try await desk.stop()
    }
    @Test("a peer has one page for all rings, which nobody looks at when it has left") func pages() async throws {
        let desk = try await RingDesk()
        let streams = [try desk.stream(Meter1.name), try desk.stream(SmallLedger1.name)]
        func readers() -> [[String: WaitPage]] {
            streams.map { stream in stream.withRing { $0.readers } }
        }
        let stayed = try await RingPeer.join(desk.bus.bus)
        do {
            let peer = try await RingPeer.join(desk.bus.bus)
            for interface in [Meter1.name, SmallLedger1.name] {
                for peer in [peer, stayed] {
                    _ = try await peer.openRing(RingDesk.name, interface)
                    _ = try await peer.openRing(RingDesk.name, interface)
                }
            }
            let name = peer.stranger.connection.uniqueName
            #expect(readers().map(\.count) == [2, 2])
            let pages = readers().compactMap { $0[name] }
            #expect(pages.count == 2 && pages[0] === pages[1])
            #expect(pages[0] !== readers()[0][stayed.stranger.connection.uniqueName])
            peer.stranger.connection.close()
        }
        #expect(await eventually { readers().map(\.count) == [1, 1] })
        try await desk.stop()
        #expect(streams.allSatisfy { !$0.hasRing })
    }
    @Test("a user's 65th peer gets no page, until one of the others has left") func manyPeers() async throws {
        let desk = try await RingDesk()
        var peers: [RingPeer] = []
        for _ in 0..<PeerResource.waitPages.bounds.share {
            let peer = try await RingPeer.join(desk.bus.bus)
            _ = try await peer.openRing(RingDesk.name, Meter1.name)
            peers.append(peer)
        }
        let late = try await RingPeer.join(desk.bus.bus)
        func refusal() async -> String? {
            let path = Stream1.path(of: Meter1.name)
            return await late.stranger.refusal(RingDesk.name, path, Stream1.name, "OpenRing")?.name
        }
        #expect(await refusal() == ErrorNames.name(for: .limitsExceeded))
        // Those that have one get it again, with another ring.
        _ = try await peers[1].openRing(RingDesk.name, SmallLedger1.name)
        peers[0].stranger.connection.close()
        #expect(await eventually { await refusal() == nil })
        try await desk.stop()
    }
    @Test("the ring ends when the service stops, and when its bus goes", arguments: [false, true])
    func ends(byBus: Bool) async throws {
        let desk = try await RingDesk()
        let peer = try await RingPeer.join(desk.bus.bus)
        var ring = try await peer.openRing(RingDesk.name, Meter1.name)
        try desk.service.publish(Labelled(text: "last"))
        if byBus { await desk.bus.stop() }
        do { try await desk.stop() } catch { #expect(byBus) }
        #expect(try await peer.drain(&ring, to: 2).map(\.sequence) == [1])
        #expect(try ring.next() == .ended)
    }
    @Test("Status shows the ring, and who is on which stream with how much") func status() async throws {
        let desk = try await RingDesk()
        let (onRing, onSignals) = (try await RingPeer.join(desk.bus.bus), try await RingPeer.join(desk.bus.bus))
        func attach(_ peer: RingPeer, _ names: [String]) async throws {
            _ = try await peer.stranger.call(
                RingDesk.name, Stream1.path(of: Meter1.name), Stream1.name, "Attach",
                [.uint64(0), .uint64(0), .array(.string, names.map { .string($0) }), AttachOptions().value])
        }
        func status() async throws -> [String: DBusValue] {
            let values = try await onRing.stranger.call(
                RingDesk.name, Stream1.path(of: Meter1.name), Stream1.name, "Status")
            guard case .dictionary(_, let entries)? = values.first else { return [:] }
            return entries.reduce(into: [:]) { status, entry in
                if case .string(let key) = entry.key, case .variant(let value) = entry.value { status[key] = value }
            }
        }
        let before = try await status()
        #expect(before["RingCapacity"] == .uint64(64 << 10) && before["RingOpen"] == .boolean(false))
        #expect(before["SignalsPaused"] == .boolean(false))
        let type = DBusType.structure([.string, .array(.string), .string, .uint64])
        #expect(before["Subscribers"] == .array(type, []))
        _ = try await onRing.openRing(RingDesk.name, Meter1.name)
        try await attach(onRing, ["*", "Metered"])
        try await attach(onSignals, ["Metered", "Labelled", "Metered"])
        for _ in 0..<5 { try desk.service.publish(Labelled(text: "x")) }
        onRing.waiter.report(3, ringIndex: 0)
        let names = (onRing.stranger.connection.uniqueName, onSignals.stranger.connection.uniqueName)
        func subscriber(_ name: String, _ names: [String], _ stream: String, _ sequence: UInt64) -> DBusValue {
            .structure([
                .string(name), .array(.string, names.map { .string($0) }), .string(stream), .uint64(sequence),
            ])
        }
        var expected = [
            subscriber(names.0, ["*"], "ring", 3), subscriber(names.1, ["Labelled", "Metered"], "signal", 0),
        ]
        #expect(try await status()["Subscribers"] == .array(type, expected))
        // Whatever a peer says of itself, it has no more than there is.
        onRing.waiter.report(.max, ringIndex: 0)
        try await attach(onSignals, [])
        expected = [subscriber(names.0, ["*"], "ring", 5)]
        #expect(try await status()["Subscribers"] == .array(type, expected))
        try await desk.stop()
    }
}
