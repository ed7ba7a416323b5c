// expect: make an interface an EnumInterface
import RelayCore
enum Plain1: EventInterface {
    static let name = "org.example.Plain1"
    static var contract: Contract<Self> { Opened.self }
}
struct Opened: DomainEvent {
    typealias Interface = Plain1
    let at: Int64
}
@MainActor final class Window {
    var count = 0
    func start(_ relay: EventRelay) throws -> Subscription {
        try relay.subscribe(to: Plain1.self) { _ in
            self.count += 1
        } onGap: { _ in
        }
    }
}
