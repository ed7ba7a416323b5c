public import RelayCore

/// A host's own figures, version 1: what its kernel counts, read at a chosen rate.
///
/// Counters are totals since the host or the interface came up, not differences: an event that is missed costs
/// resolution only.
public enum Telemetry1: EventInterface {
    public static let name = "org.eventrelay.Telemetry1"
    /// Whom the service admits (`relay-service --admit`): on the system's bus, whom its policy does
    /// (Packaging/dbus-1/system.d).
    public static let requirement = PeerRequirement.anyone
    public static let about: About = "A host's own figures, read from its kernel at a chosen rate. Counters are totals."
    public static let durability = Volatile()
    public static var contract: Contract<Self> {
        CPUSampled.self
        MemorySampled.self
        LoadSampled.self
        NetworkSampled.self
        Host.self
        ListNetworkInterfaces.self
    }
}

/// An event of `Telemetry1`: a reading of one kind.
public nonisolated protocol TelemetryEvent: FixedLayoutEvent, Equatable where Interface == Telemetry1 {
    /// Microseconds since the host came up, suspended time included: when the figures were read.
    var uptime: UInt64 { get }
}
