// expect: switch must be exhaustive
import RelayCore
import Relocation
@MainActor final class Boxes {
    var count = 0
    func start(_ relay: EventRelay) throws {
        try relay.subscribe(self, to: Relocation1.self) { me, event in
            switch event {
            case .boxProvisioned: me.count += 1
            case .boxRemoved: me.count -= 1
            }
        } onGap: { _, _ in
        }
    }
}
