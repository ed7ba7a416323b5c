// expect: 'state' is a get-only property
import RelayEvents
// Reading and writing would be two steps: another thread's change between them would be lost.
func add(_ document: LocalDocument<Int>) { document.state += 1 }
