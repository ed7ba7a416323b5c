/// Where a subscription to a followed service starts.
///
/// ```swift
/// let ledger = try relay.subscribe(to: JobPrinted.self, from: .resuming("ledger")) { enter($0) } onGap: { note($0) }
/// ```
public struct StreamPosition: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case now, beginning
        case after(epoch: UInt64, sequence: UInt64)
        /// With this sequence, whatever run it is of.
        case at(UInt64)
        case since(Timestamp)
        case resuming(String, restartsIfDamaged: Bool)
    }
    package let kind: Kind
    package init(_ kind: Kind) { self.kind = kind }

    /// Start with the next event.
    public static let now = Self(.now)
    /// Start with the oldest event that the journal has.
    public static let beginning = Self(.beginning)
    /// Start after the event with this stamp. A gap comes first if later events are gone, or if the stamp belongs to a
    /// run that the journal no longer knows.
    ///
    /// - Parameter stamp: the stamp of the last event that was handled.
    public static func after(_ stamp: Stamp) -> Self { Self(.after(epoch: stamp.epoch, sequence: stamp.sequence)) }
    /// Start after what a gap stands for: everything up to its last sequence is accounted for.
    ///
    /// nil for a gap whose end is not known: keep the position until the next event comes.
    ///
    /// - Parameter gap: the last gap that was handled.
    public static func after(_ gap: Gap) -> Self? {
        gap.epoch == 0 || gap.isOpenEnded ? nil : .after(epoch: gap.epoch, sequence: gap.sequences.upperBound)
    }
    /// Start after a position that a reply names. The state in that reply includes every event up to the position.
    ///
    /// - Parameter epoch: the run.
    /// - Parameter sequence: the sequence of the last event that the state includes.
    public static func after(epoch: UInt64, sequence: UInt64) -> Self { Self(.after(epoch: epoch, sequence: sequence)) }
    /// Start with the first event at or after a time, by the service's clock.
    ///
    /// If that clock was set back, it may have passed the time more than once. The subscription then starts at one of
    /// these moments.
    ///
    /// - Parameter time: a time in the past.
    public static func since(_ time: Timestamp) -> Self { Self(.since(time)) }
    /// Start where the subscriber with this name stopped. The first time, start with the oldest event.
    ///
    /// - Loss: each event is handled at least once, or is in a gap. The position is written after the handler has
    ///   returned, so after a crash the last events come again. If a power loss damages the file, its synced copy is
    ///   used, which is a few seconds older.
    /// - Parameter name: `[A-Za-z0-9_-]{1,64}`.
    /// - Parameter restartsIfDamaged: what to do if the file and its copy are both damaged. If true, the subscription
    ///   starts with the oldest event, so everything that the journal keeps is handled again. If false, subscribing
    ///   throws `.invalidArgument` with the names of the files.
    public static func resuming(_ name: String, restartsIfDamaged: Bool = false) -> Self {
        Self(.resuming(name, restartsIfDamaged: restartsIfDamaged))
    }
}
