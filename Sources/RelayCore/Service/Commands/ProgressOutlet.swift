import Synchronization
import RelayWire

/// Sends a call's progress to its caller, as unicast signals that name the call's serial.
///
/// What the caller does not read is bounded: while it has too many unread bytes, a later value replaces the one before,
/// and the last one is sent when there is room, at the latest before the reply. Nothing is sent behind the reply.
final class ProgressOutlet: Sendable {
    private struct State {
        /// What had no room yet.
        var latest: [UInt8]?
        var hasTimer = false
        var lastSent: UInt64 = 0
        var isOver = false
    }
    private let call: IncomingCall
    /// The object's own, whatever contract the call came for.
    private let path: String
    private weak let replies: ReplySender?
    private let state = Mutex(State())

    init(_ call: IncomingCall, at path: String, _ replies: ReplySender) {
        (self.call, self.path, self.replies) = (call, path, replies)
    }
    /// From any thread. Without effect once the handler has returned, and for a value that has no place in a message.
    func report<P: Codable>(_ progress: P, _ codec: WireCodec<P>) {
        var body = WireWriter()
        do {
            body.uint32(call.serial)
            body.signature(try Signature("(\(codec.schema.signature))"))
            body.align(8)
            try codec.encode(progress, into: &body)
        } catch { return }
        if body.count > UnreadReplies.progressRoom / 2 {
            replies?.leftOutProgress.add(1, ordering: .relaxed)
            return
        }
        state.withLock { state in
            if state.isOver { return }
            if state.latest != nil { replies?.leftOutProgress.add(1, ordering: .relaxed) }
            state.latest = body.bytes
            sendLatest(&state)
        }
    }
    /// The handler has returned: the last value goes out, like the reply behind it.
    func finish() {
        state.withLock { state in
            sendLatest(&state, isLast: true)
            (state.isOver, state.latest) = (true, nil)
        }
    }
    /// Under the lock, so that values leave in their order.
    private func sendLatest(_ state: inout State, isLast: Bool = false) {
        guard !state.isOver, let body = state.latest, let replies else { return }
        let now = MonotonicClock.now
        let isAdmitted = replies.unread.withLock { unread in
            if !unread.isKnowable {
                return now >= MonotonicClock.deadline(after: replies.timing.progressPace, from: state.lastSent)
            }
            return unread.admitsProgress(call.sender, bytes: body.count)
        }
        if isAdmitted || isLast {
            (state.latest, state.lastSent) = (nil, now)
            let signature = try? Signature(Stream1.progressSignature)
            let header = MessageHeader.signal(
                path: path, interface: Stream1.name, member: Stream1.progress, destination: call.sender,
                signature: signature ?? .empty)
            // Fails with the connection only.
            try? call.connection.send(header, body: body)
            replies.count(call, body.count)
        } else if !state.hasTimer {
            state.hasTimer = true
            replies.loop.schedule(after: replies.timing.progressLook) { [weak self] in self?.retry() }
        }
    }
    private func retry() {
        state.withLock { state in
            state.hasTimer = false
            sendLatest(&state)
        }
    }
}
