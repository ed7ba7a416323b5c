/// What the ring holds of an event. Signal and journal always hold the wire encoding.
public struct RingPayload: Hashable, Sendable {
    package enum Kind: Hashable { case wire, raw(Int) }
    package let kind: Kind

    /// The D-Bus wire encoding.
    public static let wire = Self(kind: .wire)
    /// The value's own bytes.
    public static func raw(size: Int) -> Self { Self(kind: .raw(size)) }
}
