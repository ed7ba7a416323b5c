// expect: requires that 'Relocation1' conform to 'Event'
import RelayCore
import Relocation
func start(_ relay: EventRelay) -> Subscription {
    relay.publisher.subscribe(to: Relocation1.self) { (event: Relocation1) in
        print(event)
    } onGap: { _ in
    }
}
