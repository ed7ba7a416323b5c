// expect: a relay brings DomainEvents and EnumInterfaces
import RelayCore
import Relocation
func start(_ relay: EventRelay) throws -> Subscription {
    try relay.subscribe(to: Inventory.self) { state in
        print(state)
    } onGap: { _ in
    }
}
