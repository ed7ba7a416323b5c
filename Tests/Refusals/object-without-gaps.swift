// expect: missing argument for parameter 'onGap'
// What it does about missing events has to be written down, even if that is nothing.
import RelayCore
import Relocation
final class Audit: Sendable { func note(_ event: BoxRemoved) {} }
func start(_ relay: EventRelay, _ audit: Audit) throws {
    try relay.subscribe(audit, to: BoxRemoved.self) { me, event in me.note(event) }
}
