/// Where a subscription to a followed service starts.
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
    /// With the oldest event that the journal still has.
    public static let beginning = Self(.beginning)
    /// With the event after this one. What is gone between the two, or was of a run that the journal no longer knows, is a
    /// gap first.
    public static func after(_ stamp: Stamp) -> Self { Self(.after(epoch: stamp.epoch, sequence: stamp.sequence)) }
    /// With the event after the position that a reply names: the state that it describes includes everything up to there.
    public static func after(epoch: UInt64, sequence: UInt64) -> Self { Self(.after(epoch: epoch, sequence: sequence)) }
    /// With the first event at or after a time, by the service's clock. If that was set back, with one at which it passed it.
    public static func since(_ time: Timestamp) -> Self { Self(.since(time)) }
    /// Where the subscriber of this name stopped; the first time, with the oldest event. At least once: the place is written
    /// after the handler has returned.
    ///
    /// A power loss can damage the file; its synced copy, a few seconds older, then counts.
    ///
    /// - Parameters:
    ///   - name: `[A-Za-z0-9_-]{1,64}`.
    ///   - restartsIfDamaged: if both are damaged, start with the oldest event, so that everything that the journal keeps is
    ///     handled once more. Otherwise subscribing throws `.invalidArgument`, which names the files.
    public static func resuming(_ name: String, restartsIfDamaged: Bool = false) -> Self {
        Self(.resuming(name, restartsIfDamaged: restartsIfDamaged))
    }
}
