// What the code of docs/TOUR.md takes from its surroundings, beside the shop's modules: see scripts/check-doc-code.
import RelayCore
import RelayJournal
import Shop
import ShopViews

func given<T>() -> T { fatalError("nothing here is run") }
nonisolated(unsafe) let relay: EventRelay = given()
let service: EventService = given()
let journal: EventJournal = given()
let stamp: Stamp = given()
let orderID: Int64 = 0
func publishSamples() async throws {}
struct OpenShop { let relay: EventRelay }
let shop: OpenShop = given()
@MainActor let history: OrderHistory = given()

enum Lighting1: EventInterface {
    static let name = "org.example.Lighting1"
    static var contract: Contract<Self> { Lamp.self }
}
struct Lamp: EditableDocument {
    typealias Interface = Lighting1
    var brightness: Int32, colour: String?
    static let initial = Self(brightness: 0, colour: nil)
}
@MainActor final class LampView: DocumentView { func show(_ lamp: Lamp) {} }
@MainActor let view: LampView = given()

/// Around methods.
@MainActor class View {
    var trouble: String?
    func followEvents(of relay: EventRelay) {}
    func show(_ reply: ListOrders.Reply) {}
    func apply(_ event: Orders1) {}
}

// MARK: What a program meets sooner or later

func ship(_ orderID: Int64) async throws {
    do {
        try await relay.call(ShipOrder(orderID: orderID))
    } catch ShipOrder.Refusal.alreadyShipped {
        print("it is on its way already")
    }
}
func enter(_ unit: inout UnitOfWork, _ stamp: Stamp) throws -> StreamPosition? {
    try unit.execute("UPDATE entered SET place = \(StreamPosition.after(stamp))")
    return try unit.query("SELECT place FROM entered") { row in try row["place"] as StreamPosition }.first
}
func serve() async throws {
    try await service.run(alongside: { try await publishSamples() })
}
