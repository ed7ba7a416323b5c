// expect: switch must be exhaustive
import RelayCore
import Relocation
func ask(_ relay: EventRelay) async {
    switch await relay.outcome(of: RemoveBox(boxID: 1)) {
    case .success: break
    case .failed(let error): print(error.message)
    }
}
