/// How many of an interface's events the bus is given as signals.
///
/// Past it signals pause, and `Head` announces every 100 ms how far the stream has come: relays on the ring or the journal notice
/// nothing, and a plain D-Bus client sees that something happens. They go on after a second below it. An event that goes to each
/// peer by itself, as a restricted interface's do, counts as so many signals.
///
/// Whatever the budget, they pause too while the bus holds too much that some subscriber does not read: 32 MiB, or less where it
/// has less room.
public struct SignalBudget: Hashable, Sendable {
    /// Signals a second; nil: without end.
    let rate: Int?
    /// How many may come at once.
    let burst: Int

    /// 2,000 a second, 4,000 at once.
    public static let standard = Self.perSecond(2_000, burst: 4_000)
    /// Every event is a signal, whatever that does to the bus.
    public static let unlimited = Self(rate: nil, burst: 0)
    /// - Parameters:
    ///   - rate: at least 1.
    ///   - burst: at least 1.
    public static func perSecond(_ rate: Int, burst: Int) -> Self { Self(rate: max(1, rate), burst: max(1, burst)) }
}
