// expect: generic class 'LocalDocument' requires that 'Handler' conform to 'Equatable'
import RelayEvents
// Whether a state is a change must be known.
struct Handler: Sendable { var run: @Sendable () -> Void }
let document = LocalDocument(Handler {})
