// expect: cannot call value of non-function type 'RelayError.Code'
// A refusal is no case of the error: it is one of the outcome.
import RelayCore
import Relocation
func ask(_ relay: EventRelay) async {
    do { try await relay.call(RemoveBox(boxID: 1)) } catch .refused(.unknownBox) {} catch {}
}
