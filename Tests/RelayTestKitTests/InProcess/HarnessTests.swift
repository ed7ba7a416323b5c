import Glibc
import RelayCore
import RelayTestKit
import Synchronization
import TestTraits
import Testing

/// The harness as a user has it: public API only.
@Suite("A harness runs services and relays without a bus") struct HarnessTests {
    @Test("a relay's subscribers get what a service's handlers publish, and the reply comes after it", .tags(.g1))
    func orders() async throws {
        let shop = try await Shop()
        let seen = Log<String>()
        let subscription = shop.relay.publisher.subscribe(to: OrderPlaced.self) {
            seen.add("event \($0.goods)")
        } onGap: {
            seen.add(text($0))
        }
        shop.relay.activate()
        for goods in [["bread"], ["salt", "oil"]] {
            let reply = try await shop.relay.call(PlaceOrder(goods: goods))
            seen.add("reply \(reply.number)")
        }
        #expect(seen.values == ["event [\"bread\"]", "reply 1", "event [\"salt\", \"oil\"]", "reply 2"])
        subscription.cancel()
    }
    @Test("a declared refusal is itself, a missing handler stops the start, and a taken name is a conflict")
    func failures() async throws {
        let shop = try await Shop()
        shop.relay.activate()
        do {
            _ = try await shop.relay.call(PlaceOrder(goods: []))
            Issue.record("was accepted")
        } catch {
            #expect("\(error)".lowercased().contains("nothingordered"))
        }
        let other = try EventService(
            name: "org.example.Other", on: shop.harness.bus, exporting: Orders1.self, journal: MemoryLog())
        await #expect(throws: RelayError.self) { try await shop.harness.start(other) }
        let same = try EventService(name: Shop.name, on: shop.harness.bus, exporting: Till1.self)
        do {
            try await shop.harness.start(same)
            Issue.record("two own a name")
        } catch .conflict {}
    }
    @Test("an event of an interface that is not exported is not found, in a service without a journal, too")
    func notExported() async throws {
        let harness = TestHarness()
        let service = try EventService(name: "org.example.Till", on: harness.bus, exporting: Till1.self)
        for isOne in [true, false] {
            let error = await #expect(throws: RelayError.self) {
                let event = OrderShipped(number: 1)
                if isOne { try await service.publish(event) } else { try await service.publish(contentsOf: [event]) }
            }
            #expect(
                error?.code == .notFound && error?.message.contains(Orders1.name) == true, "\(error?.message ?? "")")
        }
    }
    @Test("what has not arrived when nothing is under way does not arrive")
    func nothingArrives() async throws {
        let shop = try await Shop()
        let recorder = EventRecorder(shop.relay.publisher, of: Orders1.self)
        shop.relay.activate()
        try shop.service.publish(DrawerOpened(by: "nobody follows this"))
        try await shop.harness.settle()
        #expect(recorder.deliveries.isEmpty)
        try await shop.service.publish(OrderPlaced(number: 7, goods: []))
        try await shop.harness.settle()
        #expect(recorder.events(of: OrderPlaced.self) == [OrderPlaced(number: 7, goods: [])])
        #expect(recorder.gaps.isEmpty && recorder.stamps.map(\.sequence) == [1])
    }
    @MainActor final class Window: Sendable {
        var rows: [String] = []
    }
    @Test("settling waits for subscribers on actors") @MainActor
    func actors() async throws {
        let shop = try await Shop()
        let window = Window()
        let subscription = shop.relay.publisher.subscribe(to: OrderPlaced.self) { order in
            window.rows.append("order \(order.number)")
        } onGap: {
            window.rows.append(text($0))
        }
        shop.relay.activate()
        try await shop.harness.settle()
        for number in 1...5 as ClosedRange<Int64> {
            try await shop.service.publish(OrderPlaced(number: number, goods: []))
        }
        try await shop.harness.settle()
        #expect(window.rows == (1...5).map { "order \($0)" })
        subscription.cancel()
    }
    @Test("a harness that does not settle says what is still under way")
    func unsettled() async throws {
        let shop = try await Shop()
        shop.relay.activate()
        let call = Task { [relay = shop.relay] in try await relay.call(Ponder()) }
        #expect(await eventually { await shop.harness.isCalling })
        do {
            try await shop.harness.settle(within: .milliseconds(50))
            Issue.record("has settled")
        } catch let error as RelayError where error.code == .timedOut {
            #expect(error.message.contains("org.example.Shop: handlers of 1 peer have not returned"))
        }
        shop.open()
        try await call.value
        try await shop.harness.settle()
    }
    @Test("a requirement is checked against the user that a bus was made for", .tags(.g7))
    func users() async throws {
        let shop = try await Shop()
        let stranger = try EventRelay(
            following: Shop.name, on: shop.harness.bus(user: getuid() + 1), interfaces: Orders1.self)
        stranger.activate()
        do {
            _ = try await stranger.call(PlaceOrder(goods: ["bread"]))
            Issue.record("was permitted")
        } catch {
            #expect("\(error)".contains("PlaceOrder is for"))
        }
        let wary = try EventRelay(
            following: Shop.name, on: shop.harness.bus, interfaces: Orders1.self, requiring: .user("no such user"))
        wary.activate()
        try await shop.harness.settle()
        var last: EventRelay.State?
        for await state in wary.states { last = state }
        if case .invalidated(let error)? = last {
            #expect(error.code == .notPermitted)
        } else {
            Issue.record("\(last as Any)")
        }
    }

    // MARK: Time

    @Test("time stands until it is moved: stamps, and the timeout of a call")
    func time() async throws {
        let shop = try await Shop(TestHarness(startingAt: Timestamp(microseconds: 5_000_000)))
        let recorder = EventRecorder(shop.relay.publisher, of: Till1.self)
        shop.relay.activate()
        try await shop.harness.settle()
        try shop.service.publish(CoinInserted(value: 1))
        try await shop.harness.advance(by: .seconds(90))
        try shop.service.publish(CoinInserted(value: 2))
        try await shop.service.publish(OrderPlaced(number: 1, goods: []))
        try await shop.harness.settle()
        #expect(recorder.stamps.map(\.publishedAt.microseconds) == [5_000_000, 95_000_000])
        let call = Task { [relay = shop.relay] in try await relay.call(Ponder(), timeout: .seconds(5)) }
        #expect(await eventually { await shop.harness.isCalling })
        try await shop.harness.advance(by: .seconds(5))
        do {
            try await call.value
            Issue.record("was answered")
        } catch .timedOut {}
        shop.open()
        try await shop.harness.settle()
    }

    // MARK: Loss and restarts

    @Test("what a transport loses is a gap of a volatile interface, and is read of a durable one", .tags(.g2))
    func loss() async throws {
        let shop = try await Shop()
        let (till, orders) = (
            EventRecorder(shop.relay.publisher, of: Till1.self), EventRecorder(shop.relay.publisher, of: Orders1.self)
        )
        shop.relay.activate()
        try await shop.harness.settle()
        for round in 1...4 {
            if round == 2 {
                shop.harness.loseEvents(2, of: Till1.self)
                shop.harness.loseEvents(2, of: Orders1.self)
            }
            try shop.service.publish(CoinInserted(value: Int64(round)))
            try await shop.service.publish(OrderShipped(number: Int64(round)))
        }
        try await shop.harness.settle()
        #expect(till.events(of: CoinInserted.self).map(\.value) == [1, 4])
        #expect(till.gaps.map(\.sequences) == [2...3] && till.gaps.map(\.reason) == [.lost])
        #expect(orders.events(of: OrderShipped.self).map(\.number) == [1, 2, 3, 4] && orders.gaps.isEmpty)
    }
    @Test("the loss of the last event is found after a while", .tags(.g2))
    func lastLoss() async throws {
        let shop = try await Shop()
        let recorder = EventRecorder(shop.relay.publisher, of: Orders1.self)
        shop.relay.activate()
        try await shop.harness.settle()
        shop.harness.loseEvents(1, of: Orders1.self)
        try await shop.service.publish(OrderShipped(number: 1))
        try await shop.harness.settle()
        #expect(recorder.deliveries.isEmpty)
        try await shop.harness.advance(by: .seconds(2))
        #expect(recorder.events(of: OrderShipped.self).count == 1)
    }
    @Test(
        "a service that ends and one that follows it: the durable stream goes on, the volatile one begins", .tags(.g6))
    func restart() async throws {
        let shop = try await Shop()
        let (till, orders) = (
            EventRecorder(shop.relay.publisher, of: Till1.self), EventRecorder(shop.relay.publisher, of: Orders1.self)
        )
        shop.relay.activate()
        try await shop.harness.settle()
        try shop.service.publish(CoinInserted(value: 1))
        try await shop.service.publish(OrderShipped(number: 1))
        try await shop.harness.stop(shop.service)
        #expect(throws: RelayError.self) { try shop.service.publish(CoinInserted(value: 2)) }
        let next = try EventService(
            name: Shop.name, on: shop.harness.bus, exporting: Orders1.self, Till1.self, journal: shop.log.reopened())
        Shop.handle(next)
        try await next.publish(OrderShipped(number: 2))
        try await shop.harness.start(next)
        try await shop.harness.settle()
        try next.publish(CoinInserted(value: 3))
        try await next.publish(OrderShipped(number: 3))
        try await shop.harness.settle()
        #expect(orders.events(of: OrderShipped.self).map(\.number) == [1, 2, 3])
        #expect(orders.stamps.map(\.sequence) == [1, 2, 3] && orders.gaps.isEmpty)
        #expect(till.events(of: CoinInserted.self).map(\.value) == [1, 3])
        #expect(till.stamps.map(\.sequence) == [1, 1] && till.gaps.isEmpty)
    }
    @Test("connections that break: the service ends, and a relay follows the next one", .tags(.g6))
    func broken() async throws {
        let shop = try await Shop()
        let recorder = EventRecorder(shop.relay.publisher, of: Orders1.self)
        shop.relay.activate()
        try await shop.harness.settle()
        try await shop.service.publish(OrderShipped(number: 1))
        try await shop.harness.settle()
        shop.harness.breakConnections()
        try await shop.harness.settle()
        do {
            try await shop.harness.stop(shop.service)
            Issue.record("has not noticed")
        } catch .unavailable {}
        let next = try EventService(
            name: Shop.name, on: shop.harness.bus, exporting: Orders1.self, journal: shop.log.reopened())
        Shop.handle(next)
        try await shop.harness.start(next)
        try await next.publish(OrderShipped(number: 2))
        try await shop.harness.advance(by: .seconds(60))
        #expect(recorder.events(of: OrderShipped.self).map(\.number) == [1, 2] && recorder.gaps.isEmpty)
    }

    // MARK: Positions and schemas

    @Test("a positioned subscription reads what was before it, and goes on live")
    func positioned() async throws {
        let shop = try await Shop()
        let numbers = (1...700).map { Int64($0) }
        try await shop.service.publish(contentsOf: numbers.map { OrderShipped(number: $0) })
        let seen = Log<Int64>()
        let subscription = try shop.relay.subscribe(to: OrderShipped.self, from: .beginning) {
            seen.add($0.number)
        } onGap: {
            Issue.record("\($0)")
        }
        shop.relay.activate()
        try await shop.harness.settle()
        #expect(seen.values == numbers)
        try await shop.service.publish(OrderShipped(number: 701))
        try await shop.harness.settle()
        #expect(seen.values.last == 701 && subscription.missed == 0)
    }
    @Test("events that lack a field are one mismatch, as on a bus")
    func mismatch() async throws {
        let shop = try await Shop()
        let relay = try EventRelay(following: Shop.name, on: shop.harness.bus, interfaces: NewTill1.self)
        let recorder = EventRecorder(relay.publisher, of: NewTill1.self)
        relay.activate()
        try await shop.harness.settle()
        for _ in 0..<3 { try shop.service.publish(DrawerOpened(by: "ann")) }
        try await shop.harness.settle()
        #expect(recorder.events.isEmpty && recorder.gaps.map(\.reason) == [.schemaMismatch])
        #expect(recorder.gaps.first?.detail?.contains("reason") == true)
    }
    @Test("many events in one go are all delivered: no budget of signals, no bound of a ring", .tags(.g1, .g2))
    func many() async throws {
        let shop = try await Shop()
        let sum = Mutex<(count: Int, sum: Int64)>((0, 0))
        let subscription = shop.relay.publisher.subscribe(to: CoinInserted.self) { coin in
            sum.withLock { $0 = ($0.count + 1, $0.sum + coin.value) }
        } onGap: {
            Issue.record("\($0)")
        }
        shop.relay.activate()
        try await shop.harness.settle()
        for value in 1...20_000 { try shop.service.publish(CoinInserted(value: Int64(value))) }
        try await shop.harness.settle()
        #expect(sum.withLock { $0.count } == 20_000 && sum.withLock { $0.sum } == 200_010_000)
        #expect(subscription.missed == 0)
    }
}
