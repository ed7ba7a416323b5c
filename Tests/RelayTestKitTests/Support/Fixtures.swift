import RelayCore
import RelayTestKit
import Synchronization

/// What the kit's tests talk about: a shop's orders, which are kept, and its till, which is not.
enum Orders1: EventInterface {
    static let name = "org.example.Orders1"
    static var contract: Contract<Self> {
        OrderPlaced.self
        OrderShipped.self
        PlaceOrder.self
        Ponder.self
    }
}
struct OrderPlaced: DomainEvent, Equatable {
    typealias Interface = Orders1
    var number: Int64, goods: [String]
}
struct OrderShipped: DomainEvent, Equatable {
    typealias Interface = Orders1
    var number: Int64
}
struct PlaceOrder: Command {
    typealias Interface = Orders1
    var goods: [String]
    struct Reply: Codable, Sendable, Equatable { var number: Int64 }
    enum Refusal: String, CommandRefusal { case nothingOrdered = "NothingOrdered" }
}
/// Is answered when the test says so.
struct Ponder: Command {
    typealias Interface = Orders1
}

enum Till1: EventInterface {
    static let name = "org.example.Till1"
    static let durability = Volatile()
    static var contract: Contract<Self> {
        CoinInserted.self
        DrawerOpened.self
    }
}
struct CoinInserted: FixedLayoutEvent, Equatable {
    typealias Interface = Till1
    var value: Int64
}
struct DrawerOpened: DomainEvent, Equatable {
    typealias Interface = Till1
    var by: String
}
/// Of which a relay knows a field more.
enum NewTill1: EventInterface {
    static let name = "org.example.Till1"
    static let durability = Volatile()
    static var contract: Contract<Self> { NewDrawerOpened.self }
}
struct NewDrawerOpened: DomainEvent {
    typealias Interface = NewTill1
    static let name = "DrawerOpened"
    var by: String, reason: String
}

/// A shop's service and a relay of it, as a program has them, on a harness.
final class Shop: Sendable {
    static let name = "org.example.Shop"
    let harness: TestHarness
    let log: MemoryLog
    let service: EventService
    let relay: EventRelay
    private let gate = Gate()

    init(_ harness: TestHarness = TestHarness(), log: MemoryLog = MemoryLog()) async throws {
        (self.harness, self.log) = (harness, log)
        service = try EventService(
            name: Self.name, on: harness.bus, exporting: Orders1.self, Till1.self, journal: log)
        relay = try EventRelay(
            following: Self.name, on: harness.bus, interfaces: Orders1.self, Till1.self, delivery: .immediate)
        Self.handle(service, gate)
        try await harness.start(service)
    }
    deinit { relay.invalidate() }
    static func handle(_ service: EventService, _ gate: Gate = Gate()) {
        let numbers = Mutex<Int64>(0)
        service.handle(PlaceOrder.self) { [weak service] order, _ in
            guard !order.goods.isEmpty else { throw PlaceOrder.Refusal.nothingOrdered }
            let number = numbers.withLock { number in
                number += 1
                return number
            }
            try await service?.publish(OrderPlaced(number: number, goods: order.goods))
            return PlaceOrder.Reply(number: number)
        }
        service.handle(Ponder.self) { _, _ in await gate.pass() }
    }
    /// Lets the handler of `Ponder` go on.
    func open() { gate.open() }

    /// Where a handler waits.
    final class Gate: Sendable {
        private struct State {
            var isOpen = false
            var waiters: [CheckedContinuation<Void, Never>] = []
        }
        private let state = Mutex(State())
        func pass() async {
            await withCheckedContinuation { continuation in
                let isOpen = state.withLock { state in
                    if !state.isOpen { state.waiters.append(continuation) }
                    return state.isOpen
                }
                if isOpen { continuation.resume() }
            }
        }
        func open() {
            let waiters = state.withLock { state in
                state.isOpen = true
                defer { state.waiters = [] }
                return state.waiters
            }
            for waiter in waiters { waiter.resume() }
        }
    }
}
