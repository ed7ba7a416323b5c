// expect: thrown expression type 'any Error' cannot be converted to error type 'RelayError'
// A call throws refusals as themselves, and everything else as a RelayError.
import RelayCore
import Relocation
func ask(_ relay: EventRelay) async {
    do throws(RelayError) { try await relay.call(RemoveBox(boxID: 1)) } catch { print(error.message) }
}
