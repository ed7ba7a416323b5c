import Synchronization

/// The streams of a relay, in the order in which they were first wanted; few, and kept for its life.
///
/// - Isolation: in a turn of the loop, but for `measured`.
final class FollowedStreams: Sendable {
    let loop: BusLoop
    private let state: LoopBound<[StreamController]>
    private let list = Mutex<[StreamController]>([])

    init(on loop: BusLoop) { (self.loop, state) = (loop, LoopBound([], on: loop)) }

    var all: [StreamController] { state.onLoop }
    /// The same, for code that counts without a turn.
    var measured: [StreamController] { list.withLock { $0 } }
    subscript(interface: String) -> StreamController? { all.first { $0.interface == interface } }
    func append(_ stream: StreamController) {
        state.onLoop.append(stream)
        list.withLock { $0.append(stream) }
    }

    // MARK: Of any of them

    var areSettled: Bool { all.allSatisfy(\.isSettled) }
    var areWanted: Bool { all.contains(where: \.isWanted) }
    var areCatchingUp: Bool { all.contains(where: \.isCatchingUp) }
    /// It is not known yet how the events of one come.
    var areOpening: Bool { all.contains { $0.inlets.isOpening } }
    /// Rings that held what no ring holds. On any thread.
    var faults: Int { Int(clamping: measured.reduce(0) { $0 &+ $1.counts.faults.value }) }
}

/// What a stream reports to its session, in a turn of the loop.
protocol StreamObserver: AnyObject, Sendable {
    /// It is known how events come, or nothing is wanted of a stream any more: calls that waited for that go on.
    func streamOpened()
    /// More has come, or is no longer waited for: replies and barriers may have waited for it.
    func streamAdvanced()
    /// A stream may be in step with the owner now.
    func streamSettled()
    /// Something was lost in this stream: another one of this bus may lack something, too.
    func streamLost(_ stream: StreamController)
    /// Some of what was new in the rings was read.
    func ringsRead()
    /// The owner's wait page is mapped and sealed, or will not be.
    func pagePrepared(_ result: Result<Void, RelayError>)
}
