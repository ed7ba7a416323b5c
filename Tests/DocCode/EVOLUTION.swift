// What the code of docs/EVOLUTION.md takes from its surroundings, beside the versions that the page shows: see scripts/check-doc-code.
import RelayCore
import RelayJournal
import RelayTestKit

func given<T>() -> T { fatalError("nothing here is run") }
let journal: EventJournal = given()
let bus: PrivateBus = given()
enum Telemetry1: EventInterface {
    static let name = "org.eventrelay.Telemetry1"
    static var contract: Contract<Self> {}
}
enum LaterShop {
    enum Shop1: EventInterface {
        static let name = "org.example.Shop1"
        static var contract: Contract<Self> { Opened.self }
    }
    struct Opened: DomainEvent {
        typealias Interface = Shop1
        let by: String
    }
}

/// Around methods.
@MainActor class View {}
