/// Decides whether a service that goes away soon after a relay has found it is started again.
///
/// A service may have decided to exit, being idle, just before the relay attached: then it is started again. One that
/// goes away each time cannot run, and starting it over and over would help nobody.
struct EarlyDepartures {
    /// How often in a row.
    static let most = 3
    private var count = 0

    /// - Parameter wasNew: whether the relay had found the service only just before.
    /// - Returns: whether to start the service again.
    mutating func startsAgain(wasNew: Bool) -> Bool {
        count = wasNew ? min(count + 1, Self.most + 1) : 0
        return wasNew && count <= Self.most
    }
}
