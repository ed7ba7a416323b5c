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

    /// With the next event.
    public static let now = Self(.now)
    /// With the oldest event that the journal has.
    public static let beginning = Self(.beginning)
    /// With the event after a stamp's. What is gone in between, or belongs to a run that the journal no longer knows,
    /// is a gap first.
    ///
    /// - Parameter stamp: of the last event that was handled.
    public static func after(_ stamp: Stamp) -> Self { Self(.after(epoch: stamp.epoch, sequence: stamp.sequence)) }
    /// With the event after a position that a reply names. The state in that reply includes everything up to there.
    ///
    /// - Parameter epoch: the run.
    /// - Parameter sequence: the last event that is included.
    public static func after(epoch: UInt64, sequence: UInt64) -> Self { Self(.after(epoch: epoch, sequence: sequence)) }
    /// With the first event at or after a time, by the service's clock.
    ///
    /// If that clock was set back, with one of the events at which it passed the time.
    ///
    /// - Parameter time: a time in the past.
    public static func since(_ time: Timestamp) -> Self { Self(.since(time)) }
    /// Where the subscriber of this name stopped; the first time, with the oldest event.
    ///
    /// - Loss: at least once. The position is written after the handler has returned. A power loss can damage the file;
    ///   then its synced copy, a few seconds older, counts.
    /// - Parameter name: `[A-Za-z0-9_-]{1,64}`.
    /// - Parameter restartsIfDamaged: if file and copy are both damaged, start with the oldest event, so that
    ///   everything that the journal keeps is handled again. Otherwise subscribing throws `.invalidArgument` with the
    ///   names of the files.
    public static func resuming(_ name: String, restartsIfDamaged: Bool = false) -> Self {
        Self(.resuming(name, restartsIfDamaged: restartsIfDamaged))
    }
}
