import Foundation
import RelayCore
import RelayJournal
import RelayTestKit
import Shop
import ShopDesk
import ShopViews
import Testing

/// The shop's service on a bus of the test's own.
struct OpenShop {
    let bus: PrivateBus
    let service: EventService
    let relay: EventRelay

    init(_ directory: URL) async throws {
        bus = try PrivateBus()
        let journal = try EventJournal(directory: directory.path)
        let desk = try await OrderDesk(journal)
        service = try EventService(
            name: "org.example.Shop", on: bus.bus, exporting: Orders1.self, Climate1.self, journal: journal)
        desk.open(on: service)
        relay = try EventRelay(following: "org.example.Shop", on: bus.bus, interfaces: Orders1.self, Climate1.self)
        try await service.start()
        relay.activate()
        try await relay.ready()
    }
    func close() async throws { try await service.stop() }
}

@Suite("The shop") @MainActor struct ShopTests {
    let directory = FileManager.default.temporaryDirectory.appending(path: "shop-\(UUID().uuidString)")

    @Test("a board that is opened late shows the present state, and follows it")
    func board() async throws {
        let shop = try await OpenShop(directory)
        defer { try? FileManager.default.removeItem(at: directory) }
        let tea = try await shop.relay.call(PlaceOrder(article: "Tea", count: 2)).orderID
        let board = OrderBoard()
        try board.follow(shop.relay)
        #expect(await eventually { board.isFilled })
        #expect(board.orders[tea] == Order(orderID: tea, article: "Tea", count: 2, isShipped: false))
        let cup = try await shop.relay.call(PlaceOrder(article: "Cup", count: 1)).orderID
        try await shop.relay.call(ShipOrder(orderID: cup))
        #expect(await eventually { board.orders[cup]?.isShipped == true })
        try await shop.close()
    }
    @Test("a history that is opened late shows everything, in order")
    func history() async throws {
        let shop = try await OpenShop(directory)
        defer { try? FileManager.default.removeItem(at: directory) }
        for number in Int64(1)...3 {
            _ = try await shop.relay.call(PlaceOrder(article: "Tea", count: 1))
            try await shop.relay.call(ShipOrder(orderID: number))
        }
        let history = OrderHistory()
        try history.follow(shop.relay, from: .beginning)
        #expect(await eventually { history.lines.count == 6 })
        #expect(
            history.lines == (1...3).flatMap { ["#\($0) placed: 1 × Tea", "#\($0) shipped"] })
        try await shop.close()
    }
    @Test("what cannot be done is refused, and changes nothing")
    func refusals() async throws {
        let shop = try await OpenShop(directory)
        defer { try? FileManager.default.removeItem(at: directory) }
        switch await shop.relay.outcome(of: ShipOrder(orderID: 7)) {
        case .refused(.unknownOrder): break
        case let other: Issue.record("\(other)")
        }
        switch await shop.relay.outcome(of: PlaceOrder(article: "Tea", count: 0)) {
        case .refused(.nothingOrdered): break
        case let other: Issue.record("\(other)")
        }
        try await shop.close()
    }
    @Test("a view model's rules need no bus")
    func rules() {
        let board = OrderBoard()
        board.show(ListOrders.Reply(epoch: 1, sequence: 0, orders: []))
        board.apply(.placed(OrderPlaced(orderID: 1, article: "Tea", count: 2)))
        board.apply(.shipped(OrderShipped(orderID: 1)))
        #expect(board.orders[1]?.isShipped == true)
    }
}
