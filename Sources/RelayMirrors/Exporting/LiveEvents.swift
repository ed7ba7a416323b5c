import RelayCore

/// Events as an origin's signals bring them, so that nobody has to ask for them; as a value.
///
/// What is missing or has no room is asked for instead: no event is lost by this.
struct LiveEvents {
    struct Event {
        let name: String
        let sequence: UInt64
        /// A signal's whole body.
        let body: [UInt8]
    }
    enum News {
        /// They follow each other.
        case events(ArraySlice<Event>)
        /// The journal has what they do not have.
        case ask
        case nothing
    }
    /// More wait for nobody: whoever is that far behind reads pages.
    static let mostBytes = 256 << 10
    private var events: ArraySlice<Event> = []
    private var bytes = 0
    private var mustAsk = true
    /// The last sequence that came.
    private(set) var head: UInt64 = 0

    mutating func add(_ name: String, _ body: [UInt8]) {
        guard let stamp = body.withUnsafeBytes({ Stamp(endOf: $0, epoch: 0) }), bytes + body.count <= Self.mostBytes
        else {
            return ask()
        }
        head = stamp.sequence
        if let last = events.last, stamp.sequence != last.sequence + 1 { ask() }
        events.append(Event(name: name, sequence: stamp.sequence, body: body))
        bytes += body.count
    }
    /// There may be more than what came.
    mutating func ask() { (events, bytes, mustAsk) = ([], 0, true) }
    /// What there is behind a sequence. Whoever is told to ask does so.
    mutating func take(after sequence: UInt64) -> News {
        if mustAsk {
            mustAsk = false
            return .ask
        }
        let rest = events.drop { $0.sequence <= sequence }
        (events, bytes) = ([], 0)
        guard let first = rest.first else { return .nothing }
        return first.sequence == sequence + 1 ? .events(rest) : .ask
    }
}
