import Synchronization

/// Turns a follower's calls into values.
package final class FollowerClosureSink: FollowerSink {
    private let deliver: @Sendable (FollowerOutput) -> Void
    private let names = Mutex<[(interface: String, name: String)]>([])
    package init(_ deliver: @escaping @Sendable (FollowerOutput) -> Void) { self.deliver = deliver }

    package func schemas(_ schemas: LaneSchemas, of interface: String) {}
    package func token(for name: String, of interface: String) -> Int {
        names.withLock { names in
            if let index = names.firstIndex(where: { $0 == (interface, name) }) { return index }
            names.append((interface, name))
            return names.count - 1
        }
    }
    package func event(_ token: Int, _ raw: RawEvent, stamp: Stamp) {
        let (interface, name) = names.withLock { $0[token] }
        do throws(RelayError) {
            deliver(.event(try raw.envelope(interface, name, stamp)))
        } catch {
            let one = stamp.sequence...stamp.sequence
            let gap = Gap(one, epoch: stamp.epoch, count: 1, reason: .schemaMismatch, detail: error.message)
            deliver(.gap(interface: interface, gap))
        }
    }
    package func gap(_ gap: Gap, in interface: String, of name: String?) { deliver(.gap(interface: interface, gap)) }
    package func lasting(_ gap: Gap, in interface: String, of name: String?, isNew: Bool) {
        if isNew { deliver(.gap(interface: interface, gap)) }
    }
    package func state(_ state: EventRelay.State) { deliver(.state(state)) }
}
