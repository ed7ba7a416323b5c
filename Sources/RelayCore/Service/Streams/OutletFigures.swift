/// What an outlet has done with a stream's events in this run: for `ServiceMetrics`.
struct OutletFigures: Hashable, Sendable {
    var carried: UInt64 = 0
    /// Left out by a pause.
    var heldBack: UInt64 = 0
    /// Left out because they do not fit.
    var tooLarge: UInt64 = 0
}

/// How many calls at an interface were refused, by the reason.
struct CallRefusals: Hashable, Sendable {
    private(set) var notPermitted = 0
    private(set) var limitsExceeded = 0

    mutating func count(_ kind: Notice.Kind) {
        switch kind {
        case .notPermitted: notPermitted += 1
        case .limitsExceeded: limitsExceeded += 1
        default: break
        }
    }
}
