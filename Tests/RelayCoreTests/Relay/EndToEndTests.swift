import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore

enum Shop1: EventInterface {
    static let name = "org.example.Shop1"
    static let durability = Volatile()
    static var contract: Contract<Self> {
        Sold.self
        Restocked.self
        Order.self
        Clear.self
    }
}
struct Sold: DomainEvent, Equatable {
    typealias Interface = Shop1
    var item: String, price: Double, tags: [String]
}
struct Restocked: DomainEvent, Equatable {
    typealias Interface = Shop1
    var item: String, count: Int32
}
struct Order: Command {
    typealias Interface = Shop1
    var item: String, count: Int32
    struct Reply: Codable, Sendable, Equatable { var orderID: Int64 }
    enum Refusal: String, CommandRefusal { case soldOut = "SoldOut" }
}
struct Clear: Command {
    typealias Interface = Shop1
}

@Suite("Events and commands over a bus", .heavy, .tags(.g1, .g2)) struct EndToEndTests {
    @Test func typedEventsAndCommandsCrossTheBus() async throws {
        let bus = try PrivateBus()
        let service = try EventService(name: "org.example.Shop", on: bus.bus, exporting: Shop1.self)
        service.handle(Order.self) { order, context in
            guard order.count < 10 else { throw Order.Refusal.soldOut }
            try service.publish(Sold(item: order.item, price: 1.5, tags: ["a", "b"]))
            return Order.Reply(orderID: Int64(order.count))
        }
        service.handle(Clear.self) { _, _ in }
        let relay = try EventRelay(following: "org.example.Shop", on: bus.bus, interfaces: Shop1.self)
        let seen = Mutex<[Sold]>([])
        let subscription = relay.publisher.subscribe(to: Sold.self, delivery: .immediate) { event in
            seen.withLock { $0.append(event) }
        } onGap: { _ in
        }
        relay.activate()
        let running = Task { try await service.run() }
        #expect(await eventually { (try? await relay.call(Clear())) != nil })
        for number in 1...3 {
            let reply = try await relay.call(Order(item: "pen", count: Int32(number)))
            #expect(reply.orderID == Int64(number))
            #expect(seen.withLock { $0.count } == number)
        }
        #expect(await relay.outcome(of: Order(item: "pen", count: 10)) == .refused(.soldOut))
        await #expect(throws: Order.Refusal.soldOut) { try await relay.call(Order(item: "pen", count: 10)) }
        #expect(await relay.outcome(of: Clear()) == .success(NoReply()))
        running.cancel()
        try await running.value
        subscription.cancel()
    }
}
