/// How far a named subscriber has come in one interface.
struct CursorPlace: Hashable, Sendable {
    /// The events that it sees; nil: all of the interface.
    var names: Set<String>?
    var epoch: UInt64
    var sequence: UInt64
    /// The newest of the runs that led there, that of `epoch` last; empty: unknown.
    var runs: [StreamRun] = []
}
