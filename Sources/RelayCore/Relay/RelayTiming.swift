/// All timing of a relay, with the reason for each figure. A test sets what it does not want to wait for.
///
/// Not here are the time limits of a program's own calls, which are their arguments.
package struct RelayTiming: Hashable, Sendable {
    package var bus = BusTiming()
    package var accounts = AccountTiming()
    package var cursors = Cursors()

    // MARK: Connecting

    /// Between attempts to reach the bus. A bus that restarts is back within a second, and one that is stopped is
    /// looked for all day.
    package var reconnect = Duration.milliseconds(50)...Duration.seconds(5)

    // MARK: The service's owner

    /// Before a question is repeated that the bus or the service could not answer, or had no room for: neither recovers
    /// within milliseconds, and a person takes a second for prompt.
    package var retry = Duration.seconds(1)
    /// Who owns the name is asked again while something waits, though nothing was heard: an announcement may have been
    /// lost. Within five seconds, well before a call's 25 are over.
    package var prompt = TimerWindow(delay: .seconds(3), slack: .seconds(2))
    /// The same while nothing waits. Within 30 seconds, mostly when the loop is awake anyway: an idle relay costs no
    /// battery.
    package var leisurely = TimerWindow(delay: .seconds(20), slack: .seconds(10))
    /// For the bus to start the service: as long as a call takes that starts it.
    package var start = Duration.seconds(25)
    /// An owner that leaves so soon after it was found had decided to before: it is started again.
    package var newOwner = Duration.seconds(2)
    /// For an answer of the service to what its own thread does, before it is asked again: it is stopped, or on a
    /// machine that swaps. Past that, its answer was lost.
    package var answer = Duration.seconds(10)
    /// For a page of the journal, before it is asked for again: the bus may have dropped it.
    package var read = Duration.seconds(25)

    // MARK: Streams

    /// How long a stream whose last event is in doubt waits for a word of the service, before it asks where the service
    /// stands. A service announces its head after a quiet second: twice that.
    package var tick = Duration.seconds(2)

    /// Before a handler that threw is called again with the same event. Documented at `subscribe`: what fails for a
    /// moment, such as a connection or a lock, is back by then, and an event that no handler can take does not hold a
    /// subscription for long.
    package var handlerRetries: [Duration] = [.milliseconds(100), .milliseconds(500), .seconds(2), .seconds(8)]
    /// For handlers that run when the relay's program is to end: as for a service's commands.
    package var handlerPatience = Duration.seconds(10)
    package var notices = NoticeTiming()

    // MARK: Rings

    /// Between attempts to get a ring after a refusal that passes soon: memory, file descriptors, a long queue.
    package var ring = Duration.seconds(1)...Duration.seconds(60)
    /// The same after a refusal for want of a place, which other relays have as long as they run. Each attempt costs the
    /// service a call, and a thousand relays may ask.
    package var ringPlace = Duration.seconds(120)...Duration.seconds(1_800)
    /// For a wait page to be mapped and sealed. That takes microseconds, unless the owner holds the file's lock, maybe
    /// for ever.
    package var page = Duration.seconds(5)
    /// How long a ring is left alone while an answer is due, which decides what in it counts: other subscriptions to
    /// the interface wait, too.
    package var parking = Duration.milliseconds(100)

    /// How long the ring's thread looks for the next event before it sleeps: see `SpinRule`. A benchmark sets it.
    package var spinning = RingWaiter.Spinning.standard

    // MARK: Followed states and documents

    /// For the answer to a query of a state that is followed: as long as any call.
    package var query = Duration.seconds(25)
    /// Between two queries at least: gaps that come in a row ask for one state.
    package var queryPace = Duration.milliseconds(100)
    /// Between attempts after a query that failed. Documented at `follow`: two seconds at most.
    package var queryRetry = Duration.milliseconds(100)...Duration.seconds(2)
    /// Between attempts to change a document: first for others that change it, too, then for a service that is away.
    package var update = Duration.milliseconds(10)...Duration.seconds(1)

    package init(_ change: (inout Self) -> Void = { _ in }) { change(&self) }

    /// When a cursor is written.
    package struct Cursors: Hashable, Sendable {
        /// After an event was handled, at the latest: so much is handled again after a crash.
        package var write = Duration.milliseconds(100)
        /// After a write that failed: a full disk does not recover sooner.
        package var retry = Duration.seconds(1)
        /// How long after a cursor was written its synced copy follows. A sync wakes the disk, and only a power loss
        /// needs it.
        package var sync = Duration.seconds(5)
    }
}
