import RelayCore

/// What the bus side tells `watch`, in its order.
enum WatchInput: Sendable {
    case event(Envelope)
    case gap(interface: String, Gap)
    case state(ServiceState)
}

/// Where the service is.
enum ServiceState: Sendable, Equatable {
    /// There.
    case active
    /// It or the bus went away; what comes next may be `active` again.
    case interrupted
    /// It will not come back.
    case invalidated(CLIFailure)
}
