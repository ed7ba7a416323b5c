extension EventRelay {
    /// The state of the connection to the service.
    ///
    /// It is also an `Event` on the relay's publisher: on one actor or queue a state comes after the events that
    /// preceded it. Whether the service has an interface is a state of that interface: ``InterfaceState``.
    public enum State: Event, Equatable {
        /// The bus, the service or its first reply is not there yet.
        case connecting
        /// In step with the service. What the publisher's subscribers missed of a durable interface came before this. A
        /// positioned subscription may still be replaying.
        case active
        /// The service or the bus went away. The relay recovers by itself.
        case interrupted
        /// The last state: a retry would not help.
        ///
        /// The bus or the service does not permit the relay, or the name's owner does not meet the relay's requirement.
        /// (A name without an owner does not end a relay: it waits.)
        case invalidated(RelayError)
    }

    /// The state of one interface, as distinct from the connection's. It is known while the interface has a
    /// subscription.
    public enum InterfaceState: Hashable, Sendable {
        /// The service has not answered, or is gone.
        case unknown
        /// The present service has it.
        case available
        /// The present service lacks it. The text is the service's error. Subscriptions get a gap with
        /// `schemaMismatch`. The next owner of the name is asked again.
        case missing(String)
    }
    /// The state of an interface has changed: an `Event` on the relay's publisher.
    ///
    /// ```swift
    /// relay.publisher.subscribe(to: EventRelay.InterfaceChange.self, onGap: .ignore) { change in
    ///     if case .missing(let reason) = change.state { warn(reason) }
    /// }
    /// ```
    public struct InterfaceChange: Event, Hashable {
        /// The interface's name.
        public let interface: String
        /// The state from now on.
        public let state: InterfaceState
    }

    /// Whether the bus is asked to start an absent service.
    public struct Activation: Hashable, Sendable {
        let startsService: Bool
        /// Asks the bus to start the service for the first subscription, for each command that finds no service, and
        /// when a relay with a subscription connects again. It does not ask when the service went away, unless that was
        /// within two seconds after the relay had found it: then the service may have just decided to end for being
        /// idle.
        public static let onDemand = Self(startsService: true)
        /// Never asks the bus. The relay waits for the service, and commands fail meanwhile.
        public static let ifRunning = Self(startsService: false)
    }
}

extension EventRelay.State {
    /// Whether a change between the two need not be reported.
    func isSame(as other: Self) -> Bool {
        switch (self, other) {
        case (.connecting, .connecting), (.active, .active), (.interrupted, .interrupted): true
        case (.invalidated, .invalidated): true
        default: false
        }
    }
}
