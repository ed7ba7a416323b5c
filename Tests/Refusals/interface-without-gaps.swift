// expect: missing argument for parameter 'onGap'
import RelayCore
import Relocation
func start(_ relay: EventRelay) throws -> Subscription {
    try relay.subscribe(to: Relocation1.self) { event in print(event) }
}
