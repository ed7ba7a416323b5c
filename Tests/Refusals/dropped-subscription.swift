// expect: result of call to 'subscribe(to:delivery:buffer:onGap:_:)' is unused
// flags: -warnings-as-errors
import RelayCore
import Relocation

func start(_ events: EventPublisher) {
    events.subscribe(to: BoxRemoved.self, delivery: .immediate, onGap: .ignore) { _ in }
}
