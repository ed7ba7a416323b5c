// What the code of docs/TOUR.md takes from its surroundings, beside the shop's modules: see scripts/check-doc-code.
import RelayCore
import Shop
import ShopViews

func given<T>() -> T { fatalError("nothing here is run") }
nonisolated(unsafe) let relay: EventRelay = given()
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
    func show(_ reply: ListOrders.Reply) {}
    func apply(_ event: Orders1) {}
}
