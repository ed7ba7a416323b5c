public import RelayCore

/// What one processor has spent its time on since the host came up, in microseconds, as fine as the kernel's clock tick
/// (1/100 s).
public struct CPUSampled: TelemetryEvent {
    public static let about = About(
        "What one processor has spent its time on since the host came up.",
        fields: [
            "uptime": .unit("µs", "since the host came up, suspended time included"),
            "user": .unit("µs", "with what virtual machines of this host ran"), "nice": .unit("µs"),
            "system": .unit("µs"), "idle": .unit("µs"), "ioWait": .unit("µs", "idle while a disk was waited for"),
            "interrupt": .unit("µs"), "softInterrupt": .unit("µs"),
            "stolen": .unit("µs", "taken by the host of this virtual machine"),
            "cpu": "the kernel's number of it, from 0", "cpus": "how many were read at once",
        ])
    public let uptime: UInt64
    /// With what virtual machines of this host ran.
    public let user: UInt64
    public let nice: UInt64
    public let system: UInt64
    public let idle: UInt64
    /// Idle while a disk was waited for.
    public let ioWait: UInt64
    public let interrupt: UInt64
    public let softInterrupt: UInt64
    /// Taken by the host of this virtual machine.
    public let stolen: UInt64
    /// The kernel's number of it, from 0; some may be switched off.
    public let cpu: UInt32
    /// How many were read at once.
    public let cpus: UInt32

    public init(
        uptime: UInt64, user: UInt64, nice: UInt64, system: UInt64, idle: UInt64, ioWait: UInt64, interrupt: UInt64,
        softInterrupt: UInt64, stolen: UInt64, cpu: UInt32, cpus: UInt32
    ) {
        (self.uptime, self.user, self.nice, self.system, self.idle) = (uptime, user, nice, system, idle)
        (self.ioWait, self.interrupt, self.softInterrupt, self.stolen) = (ioWait, interrupt, softInterrupt, stolen)
        (self.cpu, self.cpus) = (cpu, cpus)
    }
}
