import Dispatch

/// Where the cursors of a relay are written, and where they wait for the disk.
struct CursorQueues: Sendable {
    let write = DispatchQueue(label: "relay-cursors")
    let sync = DispatchQueue(label: "relay-cursors-sync")
    /// How long after a cursor was written its synced copy follows.
    let syncDelay: DispatchTimeInterval
}
