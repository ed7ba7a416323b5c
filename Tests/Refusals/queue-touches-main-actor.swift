// expect: main actor-isolated property 'count' can not be mutated from a Sendable closure
import Dispatch
import RelayCore
import Relocation
@MainActor final class View {
    var count = 0
    func start(_ events: EventPublisher) {
        _ = events.subscribe(to: BoxRemoved.self, delivery: .queue(.global())) { _ in
            self.count += 1
        } onGap: { _ in
        }
    }
}
