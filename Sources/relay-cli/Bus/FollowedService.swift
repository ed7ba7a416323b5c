import RelayCore
import RelayTool
import RelayWire

/// Events that are taken one after the other, at the taker's own pace.
protocol PulledEvents: Sendable {
    /// nil: none now, or none any more.
    func next() -> PulledDelivery?
    /// Everything up to this one was written out.
    func acknowledge(_ delivery: PulledDelivery)
    /// The end; what was acknowledged is kept.
    func cancel()
    /// After the end: what was acknowledged could not be kept.
    var hasUnwrittenPlace: Bool { get }
}

/// What is taken.
enum PulledDelivery: Sendable {
    case event(Envelope)
    case gap(Gap)
    /// Everything up to where the stream stood at the first answer of the service was given: a history ends here.
    case caughtUp
}

/// A service on a bus, for as long as this exists.
protocol FollowedService: ServiceCaller {
    /// Connects, and goes on doing so.
    func activate()
    /// Says which events are wanted, in place of what was said before. Returns when all that is published from then on will
    /// be seen, or when the service does not answer.
    func follow(_ selection: EventSelection) async
    /// Begins to take an interface's events from a place in its journal. nil stands for every event. `onNews` is called on
    /// any thread when there is something to take, after there was nothing; it must not wait.
    ///
    /// Throws `.timedOut` for a cursor that is in use, and what is wrong with one.
    func subscribe(
        interface: String, names: Set<String>?, from start: StreamPosition, onNews: @escaping @Sendable () -> Void
    ) throws(CLIFailure) -> any PulledEvents
    /// Nothing comes any more.
    func invalidate()
}

/// Calls methods of the one service. The seam between the commands and the bus.
protocol ServiceCaller: Sendable {
    /// Throws `ServiceAbsent`, `ServiceBusy` or `CLIFailure`.
    func call(_ call: OutgoingCall, timeout: Duration) async throws -> IncomingReply
}

/// Why a call failed, where a command can do something about it.
protocol CallFailure: Error, Sendable {
    /// For a command that does nothing about it.
    var failure: CLIFailure { get }
}

/// There is no such service on the bus now; it may come.
struct ServiceAbsent: CallFailure, Equatable {
    let failure: CLIFailure
    /// The bus could start it, and that has failed: the failure says why.
    var cannotStart = false
}

/// The service has no room for the answer now: others have not taken theirs.
struct ServiceBusy: CallFailure, Equatable {
    let failure: CLIFailure
}

extension CLIFailure {
    /// What a call's failure ends a command with.
    init(ofCall error: any Error) {
        self = error as? CLIFailure ?? (error as? any CallFailure)?.failure ?? CLIFailure(.software, "\(error)")
    }
}

struct OutgoingCall: Equatable, Sendable {
    let path: String
    let interface: String
    let member: String
    let signature: String
    let body: [UInt8]
}

struct IncomingReply: Equatable, Sendable {
    let signature: String
    let body: [UInt8]
}
