/// One transport's end at a relay: a stream's events come in through it from the present owner. It owns its state and
/// its code; the stream knows this protocol only. The journal has no inlet: it is read on demand.
///
/// Every call is made in a turn of the loop.
package protocol Inlet {
    /// The inlet itself shows what it lost. So no `Head` need confirm its last event, and a loss elsewhere casts no
    /// doubt on it.
    var reportsLoss: Bool { get }
    /// What the bus is to pass on while this inlet brings the events.
    func rules(for names: NameScope, _ stream: StreamAddress) -> [MatchRule]
}

/// An inlet past the bus. It holds the events of one run until it is drained. The owner puts an event there before it
/// sends anything that counts the event: `Head`, `End`, a reply.
///
/// The stream calls `open`. The inlet answers later, in a turn, by `inletOpened`, `inletRefused`, `inletUnreadable` or
/// `inletUnanswered` of the stream. Once it is open it may call `inletFaulted`, and `drainInlet` when it has news. It
/// gives each event to `receive`.
package protocol DirectInlet: Inlet, AnyObject, Sendable {
    /// The run whose events it has; nil while it is not open.
    var epoch: UInt64? { get }
    /// The owner takes it for open, which it is not yet.
    var isOpening: Bool { get }
    /// Its events were left alone, since an answer was due that decides which of them count.
    var isParked: Bool { get }

    /// The owner has ended it: nothing more comes in it.
    var hasEnded: Bool { get }
    /// Of its transport, in metrics. Always the same.
    var name: String { get }

    /// Asks the owner for it. An answer under way no longer counts.
    func open(_ stream: StreamController, _ session: SessionController)
    /// It is known now which fields the owner's events have.
    func schemasArrived(_ stream: StreamController, _ session: SessionController)
    /// Gives it back, also what the owner may have given without its answer having come.
    func close(_ stream: StreamController, _ session: SessionController)
    /// An answer under way no longer counts, and what was given is not opened any more.
    ///
    /// - Parameter isNewOwner: the owner is gone; else nothing is wanted of it.
    func forget(isNewOwner: Bool)

    /// Gives the stream all that is there now, none beyond a sequence.
    func drain(through last: UInt64, _ stream: StreamController, _ session: SessionController)
    /// Gives the stream what is there now, at most so many events. But while `stream.awaitsAnswer` they stay where they
    /// are, within a bound of time and room.
    func drainOrPark(most limit: Int, _ stream: StreamController, _ session: SessionController)
}
extension DirectInlet {
    // Nothing comes between the owner and it that could lose an event unseen.
    package var reportsLoss: Bool { true }
    package var hasEnded: Bool { false }
    // Only tests bring others than the ring.
    package var name: String { "memory" }
}

/// A transport past the bus: what the direct inlets of one session share.
package protocol DirectTransport: AnyObject, Sendable {
    /// A new inlet, for a stream of this interface.
    func inlet(of interface: String) -> any DirectInlet
    /// The owner is gone, or the relay has ended. All inlets are closed.
    func forgetOwner()
}

/// A bus of a test, which brings a transport of its own.
package protocol DirectTransportSource: AnyObject, Sendable {
    func makeTransport(to service: String) -> any DirectTransport
}

/// Where a stream is on the bus.
package struct StreamAddress: Hashable, Sendable {
    package let service: String
    package let interface: String
    package let path: String

    init(_ service: String, _ interface: String) {
        (self.service, self.interface, path) = (service, interface, Stream1.path(of: interface))
    }
    /// The rule for signals of `Stream1` about the stream, or for one of them.
    func words(_ member: String? = nil) -> MatchRule {
        MatchRule(sender: service, path: path, interface: Stream1.name, member: member)
    }
}
