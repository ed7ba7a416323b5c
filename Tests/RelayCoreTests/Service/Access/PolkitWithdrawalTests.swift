import Glibc
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore
import RelayWire
import RelayInspection

/// What a relay received of a stream: numbers, and what gaps stand for.
private final class Heard: Sendable {
    private let heard = Mutex<(numbers: [Int64], gaps: [Gap])>(([], []))
    var numbers: [Int64] { heard.withLock { $0.numbers } }
    var gaps: [Gap] { heard.withLock { $0.gaps } }

    func listen<E: DomainEvent>(
        to relay: EventRelay, _ type: E.Type, _ number: @escaping @Sendable (E) -> Int64
    ) -> Subscription {
        relay.publisher.subscribe(to: type, delivery: .immediate) { [self] event in
            heard.withLock { $0.numbers.append(number(event)) }
        } onGap: { [self] gap in
            heard.withLock { $0.gaps.append(gap) }
        }
    }
}

@Suite("Authorisations that polkit withdraws", .heavy, .tags(.g2, .g7)) struct PolkitWithdrawalTests {
    private static let notPermitted = "org.eventrelay.Error.NotPermitted"
    private let bus: PrivateBus
    private var system: Bus { .system(at: bus.address) }

    init() throws { bus = try PrivateBus() }

    @Test("G7: whose authorisation is withdrawn reads no further: the ring is another one") func withdrawal()
        async throws
    {
        let denied = Mutex<Set<String>>([])
        let authority = try await FakeAuthority.join(system) { question in
            denied.withLock { $0.contains(question.peer) } ? .no : .yes
        }
        let desk = try await WatchedDesk(system)
        let (thief, honest) = (try await BusStranger.join(system), try await BusStranger.join(system))
        let path = WatchedDesk.path(Flow1.name)
        let all = DBusValue.array(.string, [.string("*")])
        for peer in [thief, honest] {
            _ = try await peer.call(
                WatchedDesk.name, path, Stream1.name, "Attach", [.uint64(0), .uint64(0), all, AttachOptions().value])
        }
        let ring = try await thief.connection.call(
            MethodCall(to: WatchedDesk.name, path: path, interface: Stream1.name, member: "OpenRing"))
        let area = try #require(ring.descriptors.first).withNumber { try RingArea(receiving: $0) }
        var reader = RingReader(area, after: 0, atTail: false)
        let relay = try EventRelay(following: WatchedDesk.name, on: system, interfaces: Flow1.self)
        let heard = Heard()
        let subscription = heard.listen(to: relay, Flowed.self) { $0.number }
        relay.activate()
        let stream = try #require(desk.service.core.interfaces.first { $0.name == Flow1.name }).stream
        // Attached: what is published before that is not due to it.
        try await relay.ready()
        #expect(stream.withRing { $0.readers.count } == 2)
        try desk.service.publish(Flowed(number: 1))
        guard case .record = try reader.next() else { throw RelayError(.notFound, "no record") }
        // A stranger's word about it counts for nothing.
        let asked = authority.questions.count
        let strangers = [thief.connection.uniqueName, honest.connection.uniqueName]
        var forged = MessageHeader.signal(path: path, interface: Stream1.name, member: "Reattach")
        let target: String = try #require(stream.subscribers.map(\.peer).first { !strangers.contains($0) })
        forged.destination = target
        try thief.send(signal: forged, [])
        #expect(await eventually { relay.metrics.foreignSignals > 0 })
        #expect(authority.questions.count == asked && stream.withRing { $0.readers.count } == 2)
        denied.withLock { _ = $0.insert(thief.connection.uniqueName) }
        try authority.announceChange()
        #expect(await eventually { thief.signals.contains { $0.member == "Reattach" } })
        for number in 2...50 { try desk.service.publish(Flowed(number: Int64(number))) }
        // The honest relay reads another ring, and has missed nothing in between.
        #expect(await eventually { stream.withRing { $0.readers.count } == 1 })
        try desk.service.publish(Flowed(number: 51))
        #expect(await eventually { heard.numbers.count == 51 })
        #expect(heard.numbers == Array(1...51) && heard.gaps == [])
        guard case .ended = try reader.next() else { throw RelayError(.conflict, "the ring goes on") }
        #expect(!thief.signals.contains { $0.member == "Flowed" && $0.values.first != .int64(1) })
        #expect(await eventually { honest.signals.count { $0.member == "Flowed" } == 51 })
        #expect(!honest.signals.contains { $0.member == "Reattach" })
        #expect(await eventually { desk.notices.all.contains { $0.message.contains("receives no more events") } })
        let metrics = try #require(desk.service.metrics.streams.last)
        #expect(metrics.notPermitted == 1 && metrics.events == 51)
        // It is refused what it asks for now.
        #expect(await thief.refusal(WatchedDesk.name, path, Stream1.name, "OpenRing")?.name == Self.notPermitted)
        withExtendedLifetime(subscription) {}
        relay.invalidate()
        try await desk.stop()
    }
    @Test(
        "G2: who still may follow loses nothing when the ring is replaced, however often, and whatever for",
        arguments: [false, true])
    func replacements(isDurable: Bool) async throws {
        let denied = Mutex<Set<String>>([])
        let authority = try await FakeAuthority.join(system) { question in
            denied.withLock { $0.contains(question.peer) } ? .no : .yes
        }
        let desk = try await WatchedDesk(system)
        let name = isDurable ? Watched1.name : Flow1.name
        let relay = try EventRelay(following: WatchedDesk.name, on: system, interfaces: Watched1.self, Flow1.self)
        let heard = Heard()
        let subscriptions = [
            heard.listen(to: relay, Flowed.self) { $0.number }, heard.listen(to: relay, Seen.self) { $0.number },
        ]
        relay.activate()
        try await relay.ready()
        let stream = try #require(desk.service.core.interfaces.first { $0.name == name }).stream
        let isOver = Atomic<Bool>(false)
        let publishing = Task {
            var number: Int64 = 0
            while !isOver.load(ordering: .acquiring) {
                number += 1
                if isDurable {
                    try await desk.service.publish(Seen(number: number))
                } else {
                    try desk.service.publish(Flowed(number: number))
                }
                if number.isMultiple(of: 4) { try await Task.sleep(for: .milliseconds(1)) }
            }
            return number
        }
        let open = MethodCall(
            to: WatchedDesk.name, path: WatchedDesk.path(name), interface: Stream1.name, member: "OpenRing")
        for round in 1...TestForm.rounds(12, soak: 200) {
            let other = try await BusStranger.join(system)
            _ = try await other.connection.call(open)
            if round.isMultiple(of: 2) {
                // It has left, and may have kept the ring.
                other.connection.close()
                #expect(await eventually { !stream.hasReader(other.connection.uniqueName) })
            } else {
                denied.withLock { _ = $0.insert(other.connection.uniqueName) }
            }
            let before = stream.withRing { $0.requests.opened }
            try authority.announceChange()
            // The relay reads another one.
            #expect(
                await eventually {
                    stream.withRing { $0.requests.opened > before && $0.readers.count == 1 }
                })
        }
        isOver.store(true, ordering: .releasing)
        let last = try await publishing.value
        #expect(await eventually { heard.numbers.last == last })
        #expect(heard.numbers == Array(1...last) && heard.gaps == [])
        withExtendedLifetime(subscriptions) {}
        relay.invalidate()
        try await desk.stop()
    }
    @Test("G2: a relay that was detached for a while attaches again, and what it lacks is read, or is a gap")
    func detached() async throws {
        let authority = try await FakeAuthority.join(system) { _ in .yes }
        let desk = try await WatchedDesk(system)
        let relay = try EventRelay(following: WatchedDesk.name, on: system, interfaces: Watched1.self, Flow1.self)
        let (durable, volatile) = (Heard(), Heard())
        let subscriptions = [
            volatile.listen(to: relay, Flowed.self) { $0.number }, durable.listen(to: relay, Seen.self) { $0.number },
        ]
        relay.activate()
        try await relay.ready()
        let rounds = Int64(TestForm.rounds(10, soak: 200))
        for round in 1...rounds {
            for number in 10 * round - 9...10 * round {
                // It is told in the midst of them, each time at another place.
                if number % 10 == round % 10 {
                    for interface in desk.service.core.interfaces {
                        interface.stream.withdraw(Set(interface.stream.subscribers.map(\.peer)))
                    }
                }
                try desk.service.publish(Flowed(number: number))
                try await desk.service.publish(Seen(number: number))
            }
        }
        // The last of them is what nothing follows.
        #expect(await eventually { durable.numbers.count == Int(10 * rounds) })
        #expect(durable.numbers == Array(1...10 * rounds) && durable.gaps == [])
        func isWhole() -> Bool {
            // Without documents a number is a sequence.
            let missing = volatile.gaps.flatMap { gap in gap.sequences.map { Int64($0) } }
            return (volatile.numbers + missing).sorted() == Array(1...10 * rounds)
        }
        #expect(await eventually { isWhole() }, "\(volatile.numbers) \(volatile.gaps)")
        #expect(volatile.numbers == volatile.numbers.sorted())
        withExtendedLifetime((subscriptions, authority)) {}
        relay.invalidate()
        try await desk.stop()
    }
    @Test("G7: a relay whose authorisation is withdrawn says so, and its ring ends") func withdrawnRelay() async throws
    {
        let isDenied = Atomic<Bool>(false)
        let authority = try await FakeAuthority.join(system) { _ in
            isDenied.load(ordering: .acquiring) ? .no : .yes
        }
        let desk = try await WatchedDesk(system)
        let relay = try EventRelay(following: WatchedDesk.name, on: system, interfaces: Flow1.self)
        let numbers = Mutex<[Int64]>([])
        let subscription = relay.publisher.subscribe(to: Flowed.self, delivery: .immediate) { event in
            numbers.withLock { $0.append(event.number) }
        } onGap: { _ in
        }
        let states = Mutex<[EventRelay.State]>([])
        let watch = Task { for await state in relay.states { states.withLock { $0.append(state) } } }
        relay.activate()
        let stream = try #require(desk.service.core.interfaces.first { $0.name == Flow1.name }).stream
        try await relay.ready()
        #expect(stream.withRing { $0.readers.count } == 1)
        try desk.service.publish(Flowed(number: 1))
        #expect(await eventually { numbers.withLock { $0 } == [1] })
        isDenied.store(true, ordering: .releasing)
        try authority.announceChange()
        #expect(await eventually { states.withLock { "\($0)" }.contains("follow") }, "\(states.withLock { $0 })")
        try desk.service.publish(Flowed(number: 2))
        #expect(stream.withRing { $0.readers.isEmpty } && stream.subscribers.isEmpty)
        #expect(numbers.withLock { $0 } == [1])
        withExtendedLifetime(subscription) {}
        watch.cancel()
        relay.invalidate()
        try await desk.stop()
    }
    @Test("who has left may have kept the ring: it ends when polkit changes its mind about anything")
    func formerReader() async throws {
        let authority = try await FakeAuthority.join(system) { _ in .yes }
        let desk = try await WatchedDesk(system)
        let peer = try await BusStranger.join(system)
        let reply = try await peer.connection.call(
            MethodCall(
                to: WatchedDesk.name, path: WatchedDesk.path(Flow1.name), interface: Stream1.name, member: "OpenRing"))
        let area = try #require(reply.descriptors.first).withNumber { try RingArea(receiving: $0) }
        var reader = RingReader(area, after: 0, atTail: false)
        let stream = try #require(desk.service.core.interfaces.first { $0.name == Flow1.name }).stream
        peer.connection.close()
        #expect(await eventually { stream.withRing { $0.readers.isEmpty } })
        try authority.announceChange()
        #expect(await eventually { !stream.hasRing })
        try desk.service.publish(Flowed(number: 1))
        guard case .ended = try reader.next() else { throw RelayError(.conflict, "the ring goes on") }
        try await desk.stop()
    }
    @Test("G7: a stranger's word about changes counts for nothing; another authority is asked anew") func forged()
        async throws
    {
        let first = try await FakeAuthority.join(system) { _ in .yes }
        let desk = try await WatchedDesk(system)
        let (peer, stranger) = (try await BusStranger.join(system), try await BusStranger.join(system))
        _ = try await peer.connection.call(WatchedDesk.attach())
        #expect(first.questions.count == 1)
        var forged = MessageHeader.signal(path: Polkit.path, interface: Polkit.interface, member: "Changed")
        forged.destination = await desk.onLoop { $0.connection.onLoop?.uniqueName }
        try stranger.send(signal: forged, [])
        _ = try await stranger.call(WatchedDesk.name, "/", "org.freedesktop.DBus.Peer", "Ping")
        #expect(first.questions.count == 1)
        try first.announceChange()
        #expect(await eventually { first.questions.count == 2 })
        // The name passes on: the new one says no.
        try await first.releaseName()
        let second = try await FakeAuthority.join(system) { _ in .no }
        #expect(await eventually { peer.signals.contains { $0.member == "Reattach" } })
        #expect(second.questions.map(\.peer) == [peer.connection.uniqueName])
        try first.announceChange()
        await #expect(throws: RelayError.self) { _ = try await peer.connection.call(WatchedDesk.attach()) }
        #expect(first.questions.count == 2 && second.questions.count == 2)
        try await desk.stop()
    }
    @Test("G7: a document's changes go to those that attached and may, as long as they may") func documents()
        async throws
    {
        let denied = Mutex<Set<String>>([])
        let authority = try await FakeAuthority.join(system) { question in
            denied.withLock { $0.contains(question.peer) } ? .no : .yes
        }
        let desk = try await WatchedDesk(system)
        let peers = [try await BusStranger.join(system), try await BusStranger.join(system)]
        let listener = try await BusStranger.join(system)
        try await listener.listen("org.freedesktop.DBus.Properties")
        let path = WatchedDesk.path(Flow1.name)
        let all = DBusValue.array(.string, [.string("*")])
        for peer in peers {
            _ = try await peer.call(
                WatchedDesk.name, path, Stream1.name, "Attach", [.uint64(0), .uint64(0), all, AttachOptions().value])
        }
        func changes(_ peer: BusStranger) -> Int { peer.signals.count { $0.member == "PropertiesChanged" } }
        let level = try desk.service.document(Level.self)
        try level.set(Level(height: 1))
        for peer in peers { #expect(await eventually { changes(peer) == 1 }) }
        denied.withLock { _ = $0.insert(peers[0].connection.uniqueName) }
        try authority.announceChange()
        #expect(await eventually { peers[0].signals.contains { $0.member == "Reattach" } })
        try level.set(Level(height: 2))
        #expect(await eventually { changes(peers[1]) == 2 })
        for peer in [peers[0], listener] {
            _ = try await peer.call(WatchedDesk.name, "/", "org.freedesktop.DBus.Peer", "Ping")
        }
        #expect(changes(peers[0]) == 1 && changes(listener) == 0)
        #expect(peers[0].signals.count { $0.member == "Level" } == 1)
        let refusal = await peers[0].refusal(
            WatchedDesk.name, path, Stream1.name, "GetDocument", [.string("Level")])
        #expect(refusal?.name == Self.notPermitted)
        try await desk.stop()
    }
    @Test("an authority that does not answer a recheck has the last word too") func unansweredRecheck() async throws {
        let authority = try await FakeAuthority.join(system) { _ in .yes }
        let desk = try await WatchedDesk(system)
        let peer = try await BusStranger.join(system)
        _ = try await peer.connection.call(WatchedDesk.attach())
        authority.rule { _ in .nonsense }
        try authority.announceChange()
        #expect(await eventually { peer.signals.contains { $0.member == "Reattach" } })
        #expect(authority.questions.count == 4)
        try await desk.stop()
    }
}
