import Synchronization

@testable import RelayCore
import RelayWire

extension ServiceFollower {
    /// Follows a service, with all output given to a closure.
    convenience init(
        service: String, on bus: Bus, cursors: String? = nil, deliver: @escaping @Sendable (SessionOutput) -> Void
    ) throws {
        try self.init(
            service: service, on: bus, activation: .ifRunning, cursors: cursors, sink: ClosureSink(deliver))
    }
    /// As `EventRelay.envelopes`.
    func envelopes(
        of interface: String, named names: Set<String>? = nil, from start: StreamPosition,
        onNews: (@Sendable () -> Void)? = nil
    ) throws -> EnvelopeStream {
        let source = try source(
            interface, names: names, from: start, .standard, ReplayDecoding(interface: interface, names: names))
        let stream = EnvelopeStream(source.source, onNews: onNews)
        source.begin()
        return stream
    }
}

/// Turns a follower's calls into values.
final class ClosureSink: SessionSink {
    private let deliver: @Sendable (SessionOutput) -> Void
    private let names = Mutex<[(interface: String, name: String)]>([])
    init(_ deliver: @escaping @Sendable (SessionOutput) -> Void) { self.deliver = deliver }

    func schemas(_ schemas: StreamSchemas, of interface: String) {}
    func token(for name: String, of interface: String) -> Int {
        names.withLock { names in
            if let index = names.firstIndex(where: { $0 == (interface, name) }) { return index }
            names.append((interface, name))
            return names.count - 1
        }
    }
    func event(_ token: Int, _ raw: RawEvent) {
        let (interface, name) = names.withLock { $0[token] }
        do throws(RelayError) {
            deliver(.event(try raw.envelope(interface, name)))
        } catch {
            let one = raw.stamp.sequence...raw.stamp.sequence
            let gap = Gap(one, epoch: raw.stamp.epoch, count: 1, reason: .schemaMismatch, detail: error.message)
            deliver(.gap(interface: interface, gap))
        }
    }
    func gap(_ gap: Gap, in interface: String, of name: String?) { deliver(.gap(interface: interface, gap)) }
    func lasting(_ gap: Gap, in interface: String, of name: String?, isNew: Bool) {
        if isNew { deliver(.gap(interface: interface, gap)) }
    }
    func ownerGone() {}
    func state(_ state: EventRelay.State) { deliver(.state(state)) }
}

/// What a follower delivers, as a value: for tools that know no Swift types.
enum SessionOutput: Sendable {
    case event(Envelope)
    case gap(interface: String, Gap)
    case state(EventRelay.State)
}
