import Glibc
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore

@Suite("Calls that polkit decides about", .heavy, .tags(.g7)) struct PolkitGateTests {
    private static let notPermitted = "org.eventrelay.Error.NotPermitted"
    private static let unavailable = "org.eventrelay.Error.Unavailable"
    private let bus: PrivateBus
    private var system: Bus { .system(at: bus.address) }

    init() throws { bus = try PrivateBus() }

    private func onLoop<Value: Sendable>(
        _ desk: WatchedDesk, _ body: @escaping @Sendable (ServiceCore) -> Value
    ) async -> Value {
        let core = desk.service.core
        return await withCheckedContinuation { continuation in
            core.loop.execute { continuation.resume(returning: body(core)) }
        }
    }
    private func call(_ member: String, isInteractive: Bool = false) -> MethodCall {
        MethodCall(
            to: WatchedDesk.name, path: WatchedDesk.path(Watched1.name), interface: Watched1.name, member: member,
            flags: isInteractive ? .allowInteractiveAuthorization : [])
    }
    private func attach() throws -> MethodCall {
        var body = WireWriter()
        let request = AttachRequest(epoch: 0, after: 0, names: ["*"], options: AttachOptions())
        try Stream1.write(request, into: &body)
        return MethodCall(
            to: WatchedDesk.name, path: WatchedDesk.path(Watched1.name), interface: Stream1.name, member: "Attach",
            signature: try Signature(Stream1.attachSignature), body: body.bytes,
            flags: .allowInteractiveAuthorization)
    }

    @Test("G7: every guarded member is refused and allowed by polkit's word, at each call anew") func members()
        async throws
    {
        let authority = try await FakeAuthority.join(system) { _ in .no }
        let desk = try await WatchedDesk(system)
        let peer = try await BusStranger.join(system)
        let guarded = try desk.guarded()
        #expect(guarded.count >= 19)
        for one in guarded {
            let refusal = try await desk.refusal(one, of: peer)
            #expect(refusal?.name == Self.notPermitted, "\(one): \(String(describing: refusal))")
            #expect(refusal?.message.contains(one.action) == true, "\(one): \(String(describing: refusal))")
            #expect(
                refusal?.message.contains(peer.connection.uniqueName) == true
                    && refusal?.message.contains("user ") == true)
        }
        #expect(authority.questions.map(\.action) == guarded.map(\.action))
        #expect(authority.questions.allSatisfy { $0.peer == peer.connection.uniqueName && $0.flags == 0 })
        #expect(desk.service.metrics.streams.first?.notPermitted == guarded.count)
        #expect(desk.service.metrics.notices[.notPermitted] == guarded.count)
        #expect(desk.runs.withLock { $0 } == [])
        authority.rule { _ in .yes }
        for one in guarded {
            let refusal = try await desk.refusal(one, of: peer)
            #expect(refusal?.name != Self.notPermitted, "\(one): \(String(describing: refusal))")
        }
        #expect(authority.questions.count == 2 * guarded.count)
        #expect(Set(desk.runs.withLock { $0 }) == ["Peek", "Touch"])
        // One action does not stand for another.
        authority.rule { $0.action.hasSuffix("follow") ? .yes : .no }
        #expect(await peer.refusal(desk.service.name, WatchedDesk.path(Watched1.name), Watched1.name, "Peek") == nil)
        let touch = await peer.refusal(desk.service.name, WatchedDesk.path(Watched1.name), Watched1.name, "Touch")
        #expect(touch?.name == Self.notPermitted)
        try await desk.stop()
    }
    @Test("only a command whose caller waits for a person lets polkit ask one") func interaction() async throws {
        let authority = try await FakeAuthority.join(system) { $0.flags == 1 ? .yes : .person }
        let desk = try await WatchedDesk(system)
        let peer = try await BusStranger.join(system)
        _ = try await peer.connection.call(call("Touch", isInteractive: true))
        await #expect(throws: RelayError.self) { _ = try await peer.connection.call(call("Touch")) }
        await #expect(throws: RelayError.self) { _ = try await peer.connection.call(attach()) }
        #expect(authority.questions.map(\.flags) == [1, 0, 0])
        #expect(authority.questions.map { !$0.cancellation.isEmpty } == [true, false, false])
        // A relay's commands are such calls.
        let relay = try EventRelay(following: WatchedDesk.name, on: system, interfaces: Watched1.self)
        relay.activate()
        _ = await relay.outcome(of: Touch())
        #expect(authority.questions.last?.flags == 1)
        relay.invalidate()
        try await desk.stop()
    }
    @Test("a command that waits for a person is overtaken; what reads events is not") func order() async throws {
        let authority = try await FakeAuthority.join(system) { _ in .later }
        let desk = try await WatchedDesk(system)
        let peer = try await BusStranger.join(system)
        let prompt = Mutex<Result<BusReply, RelayError>?>(nil)
        peer.connection.send(call("Touch", isInteractive: true)) { result in prompt.withLock { $0 = result } }
        _ = try await peer.connection.call(call("Free"))
        #expect(desk.runs.withLock { $0 } == ["Free"])
        #expect(await eventually { authority.waiting.map(\.action) == ["org.example.watched.manage"] })
        #expect(await onLoop(desk) { $0.unsettled } != nil)
        authority.settle(.yes)
        #expect(await eventually { prompt.withLock { $0 != nil } })
        #expect(desk.runs.withLock { $0 } == ["Free", "Touch"])
        // What comes behind an `Attach` waits for it.
        let answers = Mutex<[String]>([])
        peer.connection.send(try attach()) { _ in answers.withLock { $0.append("Attach") } }
        peer.connection.send(call("Free")) { _ in answers.withLock { $0.append("Free") } }
        #expect(await eventually { authority.waiting.count == 1 })
        _ = try await peer.call(WatchedDesk.name, "/", "org.freedesktop.DBus.Peer", "Ping")
        #expect(answers.withLock { $0 } == [] && desk.runs.withLock { $0 }.count == 2)
        authority.settle(.yes)
        #expect(await eventually { answers.withLock { $0 } == ["Attach", "Free"] })
        try await desk.stop()
    }
    @Test("a command that waits for polkit can be cancelled, and does not run") func cancellation() async throws {
        let authority = try await FakeAuthority.join(system) { _ in .later }
        let desk = try await WatchedDesk(system)
        let peer = try await BusStranger.join(system)
        let outcomes = Mutex<[RelayError.Code?]>([])
        func begin(_ call: MethodCall) -> UInt32 {
            peer.connection.send(call) { result in
                var code: RelayError.Code?
                if case .failure(let error) = result { code = error.code }
                outcomes.withLock { $0.append(code) }
            }
        }
        func cancel(_ serial: UInt32) async throws {
            _ = try await peer.call(
                WatchedDesk.name, WatchedDesk.path(Watched1.name), Stream1.name, "Cancel", [.uint32(serial)])
        }
        let prompt = begin(call("Touch", isInteractive: true))
        #expect(await eventually { authority.waiting.count == 1 })
        try await cancel(prompt)
        #expect(await eventually { outcomes.withLock { $0 } == [.cancelled] })
        #expect(await eventually { authority.cancellations.count == 1 })
        // Behind an `Attach` that waits.
        _ = begin(try attach())
        let behind = begin(call("Free"))
        #expect(await eventually { authority.waiting.count == 2 })
        try await cancel(behind)
        #expect(await eventually { outcomes.withLock { $0 } == [.cancelled, .cancelled] })
        authority.settle(.yes)
        #expect(await eventually { outcomes.withLock { $0 } == [.cancelled, .cancelled, nil] })
        #expect(desk.runs.withLock { $0 } == [])
        try await desk.stop()
    }
    @Test("prompts are bounded, and end with the peer or the service") func prompts() async throws {
        let authority = try await FakeAuthority.join(system) { _ in .later }
        let desk = try await WatchedDesk(system)
        let (peer, other) = (try await BusStranger.join(system), try await BusStranger.join(system))
        let limit = CallGate.promptsOfPeer
        for _ in 0..<limit { peer.connection.send(call("Touch", isInteractive: true)) { _ in } }
        do {
            _ = try await peer.connection.call(call("Touch", isInteractive: true))
            Issue.record("one too many")
        } catch {
            #expect((error as? RelayError)?.code == .limitsExceeded, "\(error)")
        }
        #expect(await eventually { authority.waiting.count == limit })
        let names = Set(authority.waiting.map(\.cancellation))
        #expect(names.count == limit)
        peer.connection.close()
        #expect(await eventually { Set(authority.cancellations) == names })
        // An answer that comes now is nobody's.
        authority.settle(.yes)
        let answer = Mutex<Result<BusReply, RelayError>?>(nil)
        other.connection.send(call("Touch", isInteractive: true)) { result in answer.withLock { $0 = result } }
        #expect(await eventually { authority.waiting.count == 1 })
        try await desk.stop()
        #expect(await eventually { answer.withLock { $0 != nil } })
        #expect(throws: RelayError.self) { _ = try answer.withLock { try $0?.get() } }
        #expect(await eventually { authority.cancellations.count == limit + 1 })
        #expect(desk.runs.withLock { $0 } == [])
    }
    @Test("G7: nothing is permitted while polkit cannot be asked") func unreachable() async throws {
        let desk = try await WatchedDesk(system)
        let peer = try await BusStranger.join(system)
        func outcome() async throws -> [RemoteError?] {
            var all: [RemoteError?] = []
            for one in try desk.guarded() { all.append(try await desk.refusal(one, of: peer)) }
            return all
        }
        for refusal in try await outcome() {
            #expect(refusal?.name == Self.unavailable, "\(String(describing: refusal))")
            #expect(refusal?.message.contains("polkit did not answer") == true, "\(String(describing: refusal))")
        }
        let authority = try await FakeAuthority.join(system) { _ in .nonsense }
        for refusal in try await outcome() { #expect(refusal?.name == Self.unavailable) }
        authority.rule { _ in .error("org.freedesktop.PolicyKit1.Error.Failed") }
        for refusal in try await outcome() {
            #expect(refusal?.name == Self.unavailable && refusal?.message.contains("OPERATING") == true)
        }
        #expect(desk.runs.withLock { $0 } == [])
        // It leaves with a question open.
        authority.rule { _ in .later }
        let open = Task { await peer.refusal(WatchedDesk.name, WatchedDesk.path(Watched1.name), Watched1.name, "Peek") }
        #expect(await eventually { !authority.waiting.isEmpty })
        authority.leave()
        #expect(await open.value?.name == Self.unavailable)
        try await desk.stop()
    }
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
        let area = try RingArea(receiving: try #require(ring.descriptors.first).number)
        var reader = RingReader(area, after: 0, atTail: false)
        let relay = try EventRelay(following: WatchedDesk.name, on: system, interfaces: Flow1.self)
        let numbers = Mutex<[Int64]>([])
        let gaps = Mutex<[Gap]>([])
        let subscription = relay.publisher.subscribe(
            to: Flowed.self, delivery: .immediate
        ) { event in
            numbers.withLock { $0.append(event.number) }
        } onGap: { gap in
            gaps.withLock { $0.append(gap) }
        }
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
        #expect(await eventually { numbers.withLock { $0.count } == 51 })
        #expect(numbers.withLock { $0 } == Array(1...51) && gaps.withLock { $0 } == [])
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
    /// What a relay received of a stream: numbers, and what gaps stand for.
    private struct Heard {
        var numbers: [Int64] = []
        var gaps: [Gap] = []
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
        let heard = Mutex(Heard())
        let subscriptions = [
            relay.publisher.subscribe(to: Flowed.self, delivery: .immediate) { event in
                heard.withLock { $0.numbers.append(event.number) }
            } onGap: { gap in
                heard.withLock { $0.gaps.append(gap) }
            },
            relay.publisher.subscribe(to: Seen.self, delivery: .immediate) { event in
                heard.withLock { $0.numbers.append(event.number) }
            } onGap: { gap in
                heard.withLock { $0.gaps.append(gap) }
            },
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
        #expect(await eventually { heard.withLock { $0.numbers.last } == last })
        heard.withLock { heard in
            #expect(heard.numbers == Array(1...last) && heard.gaps == [])
        }
        withExtendedLifetime(subscriptions) {}
        relay.invalidate()
        try await desk.stop()
    }
    @Test("G2: a relay that was detached for a while attaches again, and what it lacks is read, or is a gap")
    func detached() async throws {
        let authority = try await FakeAuthority.join(system) { _ in .yes }
        let desk = try await WatchedDesk(system)
        let relay = try EventRelay(following: WatchedDesk.name, on: system, interfaces: Watched1.self, Flow1.self)
        let durable = Mutex(Heard())
        let volatile = Mutex(Heard())
        let subscriptions = [
            relay.publisher.subscribe(to: Flowed.self, delivery: .immediate) { event in
                volatile.withLock { $0.numbers.append(event.number) }
            } onGap: { gap in
                volatile.withLock { $0.gaps.append(gap) }
            },
            relay.publisher.subscribe(to: Seen.self, delivery: .immediate) { event in
                durable.withLock { $0.numbers.append(event.number) }
            } onGap: { gap in
                durable.withLock { $0.gaps.append(gap) }
            },
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
        #expect(await eventually { durable.withLock { $0.numbers.count } == Int(10 * rounds) })
        durable.withLock { heard in
            #expect(heard.numbers == Array(1...10 * rounds) && heard.gaps == [])
        }
        let isWhole: @Sendable (Heard) -> Bool = { heard in
            // Without documents a number is a sequence.
            let missing = heard.gaps.flatMap { gap in gap.sequences.map { Int64($0) } }
            return (heard.numbers + missing).sorted() == Array(1...10 * rounds)
        }
        #expect(await eventually { volatile.withLock { isWhole($0) } }, "\(volatile.withLock { $0 })")
        #expect(volatile.withLock { $0.numbers == $0.numbers.sorted() })
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
        let subscription = relay.publisher.subscribe(to: Flowed.self, delivery: .immediate, onGap: .ignore) { event in
            numbers.withLock { $0.append(event.number) }
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
        let area = try RingArea(receiving: try #require(reply.descriptors.first).number)
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
        _ = try await peer.connection.call(attach())
        #expect(first.questions.count == 1)
        var forged = MessageHeader.signal(path: Polkit.path, interface: Polkit.interface, member: "Changed")
        forged.destination = await onLoop(desk) { $0.state.onLoop.connection?.uniqueName }
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
        await #expect(throws: RelayError.self) { _ = try await peer.connection.call(attach()) }
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
        _ = try await peer.connection.call(attach())
        authority.rule { _ in .nonsense }
        try authority.announceChange()
        #expect(await eventually { peer.signals.contains { $0.member == "Reattach" } })
        #expect(authority.questions.count == 4)
        try await desk.stop()
    }
    @Test("polkit is refused where it makes no sense") func misplaced() async throws {
        func text(_ body: () throws -> Void) -> String {
            do { try body() } catch { return "\(error)" }
            return "no error"
        }
        let session = text {
            _ = try EventService(name: WatchedDesk.name, on: .session, exporting: Flow1.self)
        }
        #expect(session.contains("InvalidArgument") && session.contains("system bus only"), "\(session)")
        let ownBus = text {
            _ = try EventService(name: WatchedDesk.name, on: bus.bus, exporting: Flow1.self)
        }
        #expect(ownBus.contains("system bus only"), "\(ownBus)")
        let relay = text {
            _ = try EventRelay(
                following: WatchedDesk.name, on: .system, interfaces: Flow1.self,
                requiring: .user("root") || .polkit(action: "org.example.a"))
        }
        #expect(relay.contains("InvalidArgument") && relay.contains("not who a service is"), "\(relay)")
        let unit = text {
            _ = try EventRelay(following: WatchedDesk.name, interfaces: Flow1.self, requiring: .systemdUnit("backup"))
        }
        #expect(unit.contains("InvalidArgument") && unit.contains("'backup' is no systemd unit"), "\(unit)")
    }
}
