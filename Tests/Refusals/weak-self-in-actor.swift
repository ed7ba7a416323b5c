// expect: actor-isolated property 'count' can not be mutated from a Sendable closure
import RelayCore
import Relocation
actor Ledger {
    var count = 0
    func start(_ events: EventPublisher) {
        _ = events.subscribe(to: BoxRemoved.self) { [weak self] _ in
            self?.count += 1
        } onGap: { _ in
        }
    }
}
