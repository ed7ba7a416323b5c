extension EventRelay {
    /// How the connection to the service fares.
    ///
    /// An `Event` on the relay's publisher, too: on one actor or queue a state comes after the events that preceded it.
    public enum State: Event {
        /// Not there yet: the bus, the service, or its first answer.
        case connecting
        /// In step with the service: what the publisher's subscribers missed of a durable interface has come before this. A
        /// positioned subscription may still be replaying, at its own pace.
        case active
        /// The service or the bus went away, or the present service lacks an interface that is subscribed to: a gap with
        /// `schemaMismatch` tells its subscriptions which, and the others go on. The relay comes back by itself, when
        /// another service takes the name.
        case interrupted
        /// Retrying will not help, for this reason: the bus or the service does not permit it, or the service's owner does not
        /// meet the requirement. (A name without an owner is waited for, also when the bus cannot start one: somebody may yet
        /// take it.) The last state.
        case invalidated(RelayError)
    }

    /// Whether the bus is asked to start an absent service.
    public struct Activation: Hashable, Sendable {
        let startsService: Bool
        /// When the relay connects, and by each command that finds none. Not again when it merely went away.
        public static let onDemand = Self(startsService: true)
        /// It is waited for, and commands fail meanwhile.
        public static let ifRunning = Self(startsService: false)
    }
}

extension EventRelay.State {
    /// Whether a change between the two is worth telling.
    func isSame(as other: Self) -> Bool {
        switch (self, other) {
        case (.connecting, .connecting), (.active, .active), (.interrupted, .interrupted): true
        case (.invalidated, .invalidated): true
        default: false
        }
    }
}
