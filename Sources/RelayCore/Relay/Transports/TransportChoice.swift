/// How one interface's events come from the present owner, as a value: by a ring, or as signals. What happened
/// goes in, what to do comes out.
///
/// Invariants: nothing is attached before it is known how the events come, so that what is published between the two is
/// in the ring. An `Attach` that relies on signals is sent after the rules for them. While the ring is
/// read there is no rule for events, and a signal of one counts for nothing. A ring that the owner may have given,
/// and that is not read, is given back before anything else is asked: the owner may send no signals to whom it gave one.
package struct TransportChoice: Hashable, Sendable {
    package enum Phase: Hashable, Sendable {
        /// No owner, or nothing is wanted of it. Its signals count: they are what comes before an inlet is open.
        case unknown
        /// The owner was asked for the ring. Signals count, and are held until it has answered.
        case opening
        case direct
        /// Also while `isRetrying`.
        case signals
    }
    package enum Action: Hashable, Sendable {
        /// Ask the owner for the ring. An answer under way no longer counts.
        case open
        /// Give it back, also one that the owner may have given in an answer that did not come, or no longer counts.
        case close
        /// The bus is to have the rules that `takesSignals` asks for.
        case updateRules
        /// Send the `Attach` of all members that wait for it.
        case attach
        /// All members that are in step with the service are to ask where it stands.
        case attachAll
        /// All members are to attach again, also those that read: something may not have been sent to them.
        case reattachAll
    }
    package private(set) var phase = Phase.unknown
    /// The owner was asked once more, after a refusal; signals go on until it answers.
    package private(set) var isRetrying = false

    package init() {}

    /// Whether signals of events are asked of the bus, and count.
    package var takesSignals: Bool { phase != .direct }

    /// Somebody is to attach.
    package mutating func attachWanted() -> [Action] {
        switch phase {
        case .unknown:
            phase = .opening
            return [.open]
        case .opening: return []
        case .direct, .signals: return [.attach]
        }
    }
    /// The owner gave it, and it can be read.
    package mutating func opened() -> [Action] {
        guard phase == .opening || isRetrying else { return [] }
        // What came as signals before the answer, and what is in the inlet, may overlap, or leave a hole: all ask where
        // they are.
        let next: Action = isRetrying ? .attachAll : .attach
        (phase, isRetrying) = (.direct, false)
        return [.updateRules, next]
    }
    /// The owner has none for this relay now.
    package mutating func refused() -> [Action] {
        isRetrying = false
        guard phase == .opening else { return [] }
        phase = .signals
        return [.updateRules, .attach]
    }
    /// The owner gave it, and it cannot be read here. Meanwhile the owner may have sent no signals.
    package mutating func unreadable() -> [Action] {
        if isRetrying { return goOn() }
        guard phase == .opening else { return [] }
        phase = .signals
        return [.close, .updateRules, .attach]
    }
    /// The owner did not answer in time: it may be stopped, or its answer was lost, with what it gave. It is still the
    /// one to ask; after a refusal, later.
    package mutating func unanswered() -> [Action] {
        if isRetrying { return goOn() }
        return phase == .opening ? [.close, .open] : []
    }
    /// The question after a refusal has come to nothing. What the owner published since is not known to have been sent.
    private mutating func goOn() -> [Action] {
        isRetrying = false
        return [.close, .attachAll]
    }
    /// A while has passed since a refusal that may not be the last word.
    package mutating func retry() -> [Action] {
        guard phase == .signals, !isRetrying else { return [] }
        isRetrying = true
        return [.open]
    }
    /// It holds what it cannot hold: no more of it.
    package mutating func faulted() -> [Action] {
        guard phase == .direct else { return [] }
        phase = .signals
        return [.close, .updateRules, .reattachAll]
    }
    /// The owner has ended what it gave, and may give another one.
    package mutating func withdrawn() -> [Action] {
        switch phase {
        case .unknown: return []
        case .opening: return [.close, .open]
        case .signals: return isRetrying ? [.close, .open, .reattachAll] : [.reattachAll]
        case .direct:
            // Until the answer the events come as signals, if they still may.
            (phase, isRetrying) = (.signals, true)
            return [.close, .updateRules, .reattachAll, .open]
        }
    }
    /// The owner is gone, or nothing is wanted of it any more.
    package mutating func ended() -> [Action] {
        defer { (phase, isRetrying) = (.unknown, false) }
        if phase == .direct { return [.close, .updateRules] }
        return phase == .opening || isRetrying ? [.close] : []
    }
}
