// expect: a relay brings DomainEvents and EnumInterfaces
import RelayCore
func start(_ relay: EventRelay) throws -> Subscription {
    try relay.subscribe(to: EventRelay.State.self) { state in
        print(state)
    } onGap: { _ in
    }
}
