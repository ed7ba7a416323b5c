// expect: switch must be exhaustive
import RelayCore
import Relocation
@MainActor final class Boxes: EventSubscriber {
    var count = 0
    func on(_ event: Relocation1) {
        switch event {
        case .boxProvisioned: count += 1
        case .boxRemoved: count -= 1
        }
    }
    func onGap(_ gap: Gap) {}
}
