// expect: nothing
// flags: -default-isolation MainActor -enable-upcoming-feature InferIsolatedConformances
// The way around default-main-actor-contract: the marker protocol is nonisolated.
import RelayCore

enum Shop1: EventInterface {
    static let name = "org.example.Shop1"
    static var contract: Contract<Self> { Sold.self }
}
nonisolated protocol ShopEvent: DomainEvent where Interface == Shop1 {}
struct Sold: ShopEvent { var item: String }

final class Till {
    var items: [String] = []
    func start(_ events: EventPublisher) {
        events.subscribe(self, to: Sold.self) { me, event in
            me.items.append(event.item)
        } onGap: { _, _ in
        }
    }
}
