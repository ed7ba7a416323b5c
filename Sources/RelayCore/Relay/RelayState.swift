extension EventRelay {
    /// The state of the connection to the service.
    ///
    /// It is also an `Event` on the relay's publisher: on one actor or queue, a state arrives after the events that
    /// preceded it. ``InterfaceState`` describes whether the service has an interface.
    public enum State: Event, Equatable {
        /// The relay waits for the bus, the service, or the service's first reply.
        case connecting
        /// The relay is in step with the service. The publisher's subscribers have received the events of durable
        /// interfaces that they had missed. A positioned subscription may still be replaying.
        case active
        /// The service or the bus went away. The relay recovers by itself.
        case interrupted
        /// The relay has ended: a retry would not help. No further state follows.
        ///
        /// The bus or the service does not permit the relay, or the name's owner does not meet the relay's requirement.
        /// If the name has no owner, the relay waits instead.
        case invalidated(RelayError)
    }

    /// The state of one interface, as distinct from the state of the connection. The relay knows it while the interface
    /// has a subscription.
    public enum InterfaceState: Hashable, Sendable {
        /// The service has not answered yet, or is gone.
        case unknown
        /// The present service has the interface.
        case available
        /// The present service lacks the interface. The text is the service's error. Subscriptions get a gap with
        /// `schemaMismatch`. The relay asks the next owner of the name again.
        case missing(String)
    }
    /// Reports that the state of an interface has changed: an `Event` on the relay's publisher.
    ///
    /// ```swift
    /// relay.publisher.subscribe(to: EventRelay.InterfaceChange.self) { change in
    ///     if case .missing(let reason) = change.state { warn(reason) }
    /// } onGap: { _ in }
    /// ```
    public struct InterfaceChange: Event, Hashable {
        /// The interface's name.
        public let interface: String
        /// The state from now on.
        public let state: InterfaceState
    }

    /// What keeps the relay from the bus, or from a ring or a long replay: an event on the relay's publisher, and a notice.
    ///
    /// Once for each outage. The relay retries meanwhile, and stays in its ``State``.
    package struct ConnectionFailure: Event { package let error: RelayError }

    /// Whether the relay asks the bus to start an absent service.
    public struct Activation: Hashable, Sendable {
        let startsService: Bool
        /// Asks the bus to start the service for the first subscription, for each command that finds no service, and
        /// when a relay with a subscription reconnects. If the service goes away, the relay asks only if that happens
        /// within two seconds after the relay found the service or first subscribed, and at most three times in a row:
        /// the service may just have decided to exit because it was idle.
        public static let onDemand = Self(startsService: true)
        /// Never asks the bus. The relay waits until the service runs, and commands fail meanwhile.
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
