// expect: missing argument for parameter 'onGap' in call
import RelayCore
import Relocation
func start(_ events: EventPublisher) -> Subscription { events.subscribe(to: BoxRemoved.self) { print($0.boxID) } }
