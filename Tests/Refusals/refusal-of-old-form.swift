// expect: type 'RelayError' has no member 'refused'
// A refusal is thrown as itself.
import RelayCore
import Relocation
func ask(_ relay: EventRelay) async {
    do { try await relay.call(RemoveBox(boxID: 1)) } catch RelayError.refused(RemoveBox.Refusal.unknownBox) {} catch {}
}
