/// Where a lane begins, before it has attached for the first time.
package enum LaneStart: Hashable, Sendable {
    /// With what comes from now on.
    case now
    /// With the oldest event that can be read.
    case oldest
    /// Accounted for up to here, in whatever history the service has.
    case at(UInt64)
    /// Where a subscriber stopped, and the runs that led there, as far as they are known.
    case after(epoch: UInt64, sequence: UInt64, runs: [StreamRun] = [])
}
