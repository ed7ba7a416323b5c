// expect: type 'Audit' does not conform to protocol 'EventSubscriber'
import RelayCore
import Relocation

/// What it does about missing events has to be written down, even if that is nothing.
final class Audit: EventSubscriber, Sendable {
    func on(_ event: BoxRemoved) {}
}
