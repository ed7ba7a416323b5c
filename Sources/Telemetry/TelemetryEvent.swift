public import RelayCore

/// An event of `Telemetry1`: a reading of one kind.
public nonisolated protocol TelemetryEvent: FixedLayoutEvent, Equatable where Interface == Telemetry1 {
    /// Microseconds since the host came up, suspended time included: when the figures were read.
    var uptime: UInt64 { get }
}
