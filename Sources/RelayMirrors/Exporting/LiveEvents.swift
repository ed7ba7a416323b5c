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
    /// An exporter that is further behind reads pages.
    static let mostBytes = 256 << 10
    private var events: ArraySlice<Event> = []
    private var bytes = 0
    private var mustAsk = true
    /// The last sequence that came.
    private(set) var head: UInt64 = 0

    /// Copies the body only where it is of use: what came before the journal is asked is in its answer.
    mutating func add(_ name: @autoclosure () -> String, _ body: UnsafeRawBufferPointer) {
        guard let stamp = Stamp(endOf: body, epoch: 0), stamp.sequence <= MirrorHeader.lastSequence else {
            return ask()
        }
        head = stamp.sequence
        if mustAsk { return }
        let follows = events.last.map { stamp.sequence == $0.sequence + 1 } ?? true
        if !follows || bytes + body.count > Self.mostBytes { return ask() }
        events.append(Event(name: name(), sequence: stamp.sequence, body: Array(body)))
        bytes += body.count
    }
    /// There may be more than what came.
    mutating func ask() { (events, bytes, mustAsk) = ([], 0, true) }
    /// The events behind a sequence. After `.ask` the caller reads the journal.
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
