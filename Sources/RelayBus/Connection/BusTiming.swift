/// The timing of a connection to the bus.
///
/// The bus answers within milliseconds. It also drops its own answers where a peer has no room for them: so whatever is
/// asked of it is asked again.
package struct BusTiming: Hashable, Sendable {
    /// To be let in: for the bus to accept a connection, and to answer `Hello`. It may be just starting, on a machine
    /// that is.
    package var hello = Duration.seconds(10)
    /// For any other answer, before the question is repeated: long enough that a machine under load does not double its
    /// load, and shorter than a caller's patience, which waits for it.
    package var answer = Duration.seconds(5)
    /// Between an answer that is an error and the next question: the bus does not recover sooner for being asked.
    package var pause = Duration.seconds(1)
    /// Until messages are taken again for which libdbus had no memory: nothing announces that there is some.
    package var memory = Duration.milliseconds(100)
    /// Between two looks whether the bus has taken everything, at the end of a service: nothing announces that, and the
    /// service's last replies wait for it.
    package var look = Duration.milliseconds(2)

    package init(_ change: (inout Self) -> Void = { _ in }) { change(&self) }
}

/// From when on something is done if the loop is awake anyway, and how long it may sleep past that.
package struct TimerWindow: Hashable, Sendable {
    package var delay: Duration
    package var slack: Duration

    package init(delay: Duration, slack: Duration) { (self.delay, self.slack) = (delay, slack) }
}
