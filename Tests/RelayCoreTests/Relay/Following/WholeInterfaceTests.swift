import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore
import RelayWire

/// The view model of a user.
@MainActor private final class OrderList {
    private(set) var events: [Orders1] = []
    private(set) var gaps: [Gap] = []
    private let ended: Log<String>?
    init(ended: Log<String>? = nil) { self.ended = ended }
    deinit { ended?.add("ended") }
    func follow(_ relay: EventRelay, from start: StreamPosition = .now) throws {
        try relay.subscribe(self, to: Orders1.self, from: start) { me, event in
            MainActor.assertIsolated()
            me.events.append(event)
        } onGap: { me, gap in
            me.gaps.append(gap)
        }
    }
}
private actor OrderCount {
    private(set) var placed = 0
    private(set) var shipped = 0
    /// Every order was placed before it was shipped.
    private(set) var isOrdered = true
    private func on(_ event: Orders1) {
        switch event {
        case .placed: placed += 1
        case .shipped(let order):
            shipped += 1
            if placed < Int(order.number) { isOrdered = false }
        }
    }
    func start(_ relay: EventRelay) throws {
        try relay.subscribe(self, to: Orders1.self, from: .beginning) {
            $0.on($1)
        } onGap: { _, _ in
        }
    }
}

@Suite("Subscriptions to a whole interface", .heavy, .tags(.g1, .g2))
struct WholeInterfaceTests {
    @Test("objects, closures and streams receive all events in one order, over runs, from the past into the present")
    func order() async throws {
        var desk = try await OrderDesk()
        try await desk.publish(1...20)
        desk = try await desk.restarted()
        let relay = try desk.relay()
        let (closure, background) = (Log<Orders1>(), Log<Orders1>())
        let list = await OrderList()
        let subscription = try await MainActor.run {
            try list.follow(relay, from: .beginning)
            return try relay.subscribe(to: Orders1.self, from: .beginning) { event in
                MainActor.assertIsolated()
                closure.add(event)
            } onGap: {
                Issue.record("\($0)")
            }
        }
        let second = try relay.subscribe(to: Orders1.self, from: .beginning) {
            background.add($0)
        } onGap: {
            Issue.record("\($0)")
        }
        let count = OrderCount()
        try await count.start(relay)
        let stream = try relay.events(of: Orders1.self, from: .beginning)
        relay.activate()
        try await relay.call(PlaceOrder(number: 21))
        try await desk.publish(22...30)
        let expected = OrderDesk.events(1...30)
        #expect(await eventually { await list.events.count == expected.count })
        #expect(await eventually { closure.count == expected.count && background.count == expected.count })
        #expect(await eventually { await count.shipped == 30 })
        #expect(await list.events == expected)
        #expect(await list.gaps.isEmpty)
        #expect(closure.values == expected && background.values == expected)
        #expect(await count.placed == 30)
        #expect(await count.isOrdered)
        var streamed: [Orders1] = []
        var last: UInt64 = 0
        for await case .event(let event, let stamp) in stream {
            #expect(stamp.sequence == last + 1)
            last = stamp.sequence
            streamed.append(event)
            if streamed.count == expected.count { break }
        }
        #expect(streamed == expected)
        withExtendedLifetime((subscription, second)) {}
        try await desk.stop()
    }
    @Test("without a position it begins now, and an event of one type is subscribed to in the same place")
    func live() async throws {
        let desk = try await OrderDesk()
        try await desk.publish(1...3)
        let relay = try desk.relay()
        let (all, shipped) = (Log<Orders1>(), Log<Int64>())
        let states = relay.states
        let first = try relay.subscribe(to: Orders1.self) {
            all.add($0)
        } onGap: {
            Issue.record("\($0)")
        }
        let second = try relay.subscribe(to: OrderShipped.self) {
            shipped.add($0.number)
        } onGap: {
            Issue.record("\($0)")
        }
        relay.activate()
        for await state in states { if case .active = state { break } }
        try await desk.publish(4...5)
        #expect(await eventually { all.count == 4 && shipped.count == 2 })
        #expect(all.values == OrderDesk.events(4...5) && shipped.values == [4, 5])
        withExtendedLifetime((first, second)) {}
        try await desk.stop()
    }
    @Test("an object is subscribed once to an interface; it ends with unsubscribe, and with the object")
    @MainActor func objects() async throws {
        let desk = try await OrderDesk()
        let folder = try TestFolder()
        let relay = try desk.relay(cursors: folder.path)
        relay.activate()
        let list = OrderList()
        try list.follow(relay, from: .resuming("list"))
        #expect(throws: RelayError.self) { try list.follow(relay) }
        try await desk.publish(1...1)
        #expect(await eventually { list.events.count == 2 })
        relay.unsubscribe(list)
        try await desk.publish(2...2)
        // The cursor's name is free, and tells where the list was.
        let next = OrderList()
        try next.follow(relay, from: .resuming("list"))
        // At least once: the position is written after the handler has returned.
        #expect(await eventually { next.events.last == .shipped(OrderShipped(number: 2)) })
        #expect(next.events.suffix(2) == OrderDesk.events(2...2)[...] && next.events.count < 4)
        #expect(list.events == OrderDesk.events(1...1))
        // Again after it was unsubscribed.
        try list.follow(relay)
        let ended = Log<String>()
        do {
            let short = OrderList(ended: ended)
            try short.follow(relay, from: .beginning)
            #expect(await eventually { short.events.count == 4 })
        }
        #expect(await eventually { ended.count == 1 }, "the relay does not keep it")
        try await desk.stop()
    }
    @Test("what retention removed is a gap for the object")
    @MainActor func gaps() async throws {
        let desk = try await OrderDesk()
        try await desk.publish(1...3)
        let relay = try desk.relay()
        relay.activate()
        let stream = try relay.events(of: Orders1.self, from: .beginning)
        var iterator = stream.makeAsyncIterator()
        guard case .event(_, let stamp)? = await iterator.next() else {
            Issue.record("nothing came")
            return
        }
        desk.log.storage.prune(Orders1.name, through: 4)
        let list = OrderList()
        try list.follow(relay, from: .after(stamp))
        #expect(await eventually { list.events.count == 2 })
        #expect(list.gaps.map(\.sequences) == [2...4] && list.events == OrderDesk.events(3...3))
        try await desk.stop()
    }
    @Test("an interface that the relay was not made for is refused")
    @MainActor func foreign() throws {
        let relay = try EventRelay(following: Desk.name, on: .address("unix:path=/nowhere"), interfaces: Plain1.self)
        let list = OrderList()
        #expect(throws: RelayError.self) { try list.follow(relay) }
        #expect(throws: RelayError.self) { try relay.events(of: Orders1.self) }
        #expect(throws: RelayError.self) {
            try relay.subscribe(to: Orders1.self) { _ in
            } onGap: { _ in
            }
        }
    }
    /// Its event is listed by its type, as the compiler warns against.
    private enum Caseless1: EnumInterface {
        static let name = "org.example.Caseless1"
        static var contract: Contract<Self> { return ContractBuilder.buildBlock(line(Lost.self)) }
        private static func line<I: EventInterface, E: DomainEvent<I>>(_ type: E.Type) -> ContractMember<I> {
            ContractBuilder<I>.buildExpression(type)
        }
    }
    private struct Lost: DomainEvent {
        typealias Interface = Caseless1
        var number: Int64
    }
    @Test("an event without a case is refused by service and relay, with what to do")
    func caseless() throws {
        let bus = Bus.address("unix:path=/nowhere")
        for attempt in [
            { _ = try EventService(name: Desk.name, on: bus, exporting: Caseless1.self, journal: MemoryLog()) },
            { _ = try EventRelay(following: Desk.name, on: bus, interfaces: Caseless1.self) },
        ] as [() throws -> Void] {
            let error = try #require(throws: RelayError.self) { try attempt() }
            #expect(error.code == .invalidArgument && error.message.contains("make it a case"), "\(error)")
        }
    }
    @Test("the contract of an enum of events has its events by their cases")
    func contract() {
        #expect(Orders1.contract.events.map { $0.name } == ["OrderPlaced", "OrderShipped"])
        #expect(Orders1.contract.commands.map { $0.name } == ["PlaceOrder"])
        let cases = Orders1.contract.cases
        #expect(cases["OrderPlaced"]?(OrderPlaced(number: 3)) == .placed(OrderPlaced(number: 3)))
        #expect(cases["OrderPlaced"]?(OrderShipped(number: 3)) == nil && cases.count == 2)
    }
    @Test("an event behind a gap that ends a batch of a followed state is shown at once") func batch() async throws {
        let feed = ReplayBuffer(.standard)
        let source = ReplaySource(feed, ReplayDecoding(try EventDecoder(Said.self)), nil)
        // So many are delivered in a batch. The last of them cannot be read.
        let last: UInt64 = 512
        for sequence in 1...last + 1 {
            let stamp: [DBusValue] = [.uint64(sequence), .uint64(sequence - 1), .uint64(1)]
            let values = (sequence == last ? [.int32(0)] : FollowingTests.said(Int64(sequence))) + stamp
            var body = WireWriter()
            try DBusValue.encode(values, into: &body)
            let signature = Array(try DBusValue.signature(of: values).description.utf8)
            body.withUnsafeBytes { body in
                signature.withUnsafeBytes { signature in
                    guard let stamp = Stamp(endOf: body, epoch: 1) else { return }
                    let raw = RawEvent(.signal, stamp, nil, signature: signature, body: body)
                    feed.append(live: KeptEvents(raw, token: 0), isDurable: true)
                }
            }
        }
        let (states, events) = (Log<UInt64>(), Log<Int64>())
        let follower = SnapshotFollower<Said, UInt64>(
            source, .task(.background), RelayTiming(), asking: { .init(epoch: 1, sequence: last, state: last) },
            onState: .sync { states.add($0) }, onEvent: .sync { events.add($0.0.number) }, onFailure: .sync { _ in })
        follower.start()
        #expect(await eventually { events.values == [Int64(last) + 1] })
        #expect(states.values == [last] && follower.missed == 1)
        follower.cancel()
    }
}
