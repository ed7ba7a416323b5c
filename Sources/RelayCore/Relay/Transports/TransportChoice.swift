/// How one interface's events come from the present owner, as a value: out of its ring, or as signals. What happened
/// goes in, what to do comes out.
///
/// Invariants: nothing is attached before it is known how the events come, so that what is published between the two is
/// in the ring. An `Attach` that relies on signals is sent after the rules for them. While the ring is read there is no
/// rule for events, and a signal of one counts for nothing.
package struct TransportChoice: Hashable, Sendable {
    package enum Phase: Hashable, Sendable {
        /// No owner, or nobody wants anything of it. Its signals are taken: they are what comes before a ring is open.
        case unknown
        /// `OpenRing` was sent. Signals are taken, and held by who waits.
        case asking
        case ring
        /// Also while `isRetrying`.
        case signals
    }
    package enum Action: Hashable, Sendable {
        /// Ask the owner: `OpenRing`. An answer under way no longer counts.
        case openRing
        case closeRing
        /// The bus is to have the rules that `takesSignals` asks for.
        case updateRules
        /// Send the `Attach` of those who wait.
        case attach
        /// All who are in step with the service are to ask where it stands.
        case attachAll
    }
    package private(set) var phase = Phase.unknown
    /// `OpenRing` was sent once more, after a refusal; signals go on until it is answered.
    package private(set) var isRetrying = false

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
        guard phase == .asking || isRetrying else { return [] }
        // What came as signals before the answer, and what is in the ring, may overlap, or leave a hole: all ask where
        // they are.
        let next: Action = isRetrying ? .attachAll : .attach
        (phase, isRetrying) = (.ring, false)
        return [.updateRules, next]
    }
    /// The owner has no ring for us now.
    package mutating func refused() -> [Action] {
        isRetrying = false
        guard phase == .asking else { return [] }
        phase = .signals
        return [.updateRules, .attach]
    }
    /// The owner gave its ring, and it cannot be read here: it was given back. Meanwhile the owner may have sent no
    /// signals.
    package mutating func unreadable() -> [Action] {
        if !isRetrying { return refused() }
        isRetrying = false
        return [.attachAll]
    }
    /// `OpenRing` was not answered in time: the owner may be stopped. It is still the one to ask; after a refusal,
    /// later.
    package mutating func unanswered() -> [Action] {
        isRetrying = false
        return phase == .asking ? [.openRing] : []
    }
    /// A while has passed since a refusal that may not be the last word.
    package mutating func retry() -> [Action] {
        guard phase == .signals, !isRetrying else { return [] }
        isRetrying = true
        return [.openRing]
    }
    /// The ring holds what no ring holds: no more of it.
    package mutating func faulted() -> [Action] {
        guard phase == .ring else { return [] }
        phase = .signals
        return [.closeRing, .updateRules, .attachAll]
    }
    /// The owner is gone, or nothing is wanted of it any more.
    package mutating func ended() -> [Action] {
        defer { (phase, isRetrying) = (.unknown, false) }
        return phase == .ring ? [.closeRing, .updateRules] : []
    }
}
