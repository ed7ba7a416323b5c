import RelayCore

/// A place in the events that a service keeps, as `--since` and `--until` have it. Both include what they name.
enum StreamPoint: Equatable, Sendable {
    /// The oldest event that is kept.
    case oldest
    /// An event of one interface.
    case sequence(UInt64)
    case time(Timestamp)
}
