/// How much a subscription may fall behind, and what becomes of the rest: a gap, always.
///
/// Limits count events, and are at least 1.
public struct EventBuffer: Hashable, Sendable {
    package enum Overflow: Hashable { case dropOldest, dropNewest, end }
    package let limit: Int
    package let overflow: Overflow

    /// Past the limit the oldest give way; the gap comes first, then the newest.
    public static func bufferingNewest(_ limit: Int) -> Self { Self(limit: max(1, limit), overflow: .dropOldest) }
    /// Past the limit the newest give way; the gap comes when the subscriber gets there.
    public static func bufferingOldest(_ limit: Int) -> Self { Self(limit: max(1, limit), overflow: .dropNewest) }
    /// Past the limit the subscription ends, with a gap as its last word.
    public static func ending(after limit: Int) -> Self { Self(limit: max(1, limit), overflow: .end) }

    /// The newest 1,024.
    public static let standard = Self.bufferingNewest(1_024)
}
