// expect: type 'CommandFailure' has no member 'unknownBox'
// A call throws one type for all commands: which command's refusal is meant is spelled.
import RelayCore
import Relocation
func ask(_ relay: EventRelay) {
    Task { do { try await relay.call(RemoveBox(boxID: 1)) } catch RelayError.refused(.unknownBox) {} catch {} }
}
