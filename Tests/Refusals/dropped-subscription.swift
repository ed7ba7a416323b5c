// expect: result of call to 'subscribe(to:delivery:buffer:_:onGap:)' is unused
// flags: -warnings-as-errors
import RelayCore
import Relocation

func start(_ events: EventPublisher) {
    events.subscribe(to: BoxRemoved.self, delivery: .immediate) { _ in
    } onGap: { _ in
    }
}
