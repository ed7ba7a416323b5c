// expect: a declared refusal is thrown as itself
// No error of Relay's is a declared refusal: this would never match.
import RelayCore
import Relocation
func ask(_ relay: EventRelay) async {
    do { try await relay.call(RemoveBox(boxID: 1)) } catch .refused {} catch {}
}
