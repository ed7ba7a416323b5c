/// How one interface's events come from the present owner, as a value: out of its ring, or as signals. What happened goes in,
/// what to do comes out.
///
/// Invariants: nothing is attached before it is known how the events come, so that what is published between the two is in the
/// ring. An `Attach` that relies on signals is sent after the rules for them. While the ring is read there is no rule for
/// events, and a signal of one counts for nothing.
package struct LaneTransport: Hashable, Sendable {
    package enum Phase: Hashable, Sendable {
        /// No owner, or nobody wants anything of it. Its signals are taken: they are what comes before a ring is open.
        case unknown
        /// `OpenRing` was sent. Signals are taken, and held by who waits.
        case asking
        case ring
        case signals
    }
    package enum Action: Hashable, Sendable {
        /// Ask the owner: `OpenRing`. An answer under way no longer counts.
        case openRing
        case closeRing
        /// The bus is to have the rules that `takesSignals` says.
        case updateRules
        /// Send the `Attach` of those who wait.
        case attach
        /// All who are in step with the service are to ask where it stands.
        case attachAll
    }
    package private(set) var phase = Phase.unknown

    package init() {}

    /// Whether signals of events are asked of the bus, and count.
    package var takesSignals: Bool { phase != .ring }

    /// Somebody is to attach.
    package mutating func attachWanted() -> [Action] {
        switch phase {
        case .unknown:
            phase = .asking
            return [.openRing]
        case .asking: return []
        case .ring, .signals: return [.attach]
        }
    }
    /// The owner gave its ring, and it can be read.
    package mutating func opened() -> [Action] {
        guard phase == .asking else { return [] }
        phase = .ring
        return [.updateRules, .attach]
    }
    /// The owner has no ring for us, or one that cannot be read here.
    package mutating func refused() -> [Action] {
        guard phase == .asking else { return [] }
        phase = .signals
        return [.updateRules, .attach]
    }
    /// `OpenRing` was not answered in time: the owner may be stopped. It is still the one to ask.
    package mutating func unanswered() -> [Action] { phase == .asking ? [.openRing] : [] }
    /// The ring holds what no ring holds: no more of it.
    package mutating func faulted() -> [Action] {
        guard phase == .ring else { return [] }
        phase = .signals
        return [.closeRing, .updateRules, .attachAll]
    }
    /// The owner is gone, or nothing is wanted of it any more.
    package mutating func ended() -> [Action] {
        defer { phase = .unknown }
        return phase == .ring ? [.closeRing, .updateRules] : []
    }
}
