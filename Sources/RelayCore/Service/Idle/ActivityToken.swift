import Synchronization

/// Keeps a service running although it is idle, as long as the token exists.
///
/// Use a token for work that continues without a call, a subscriber or a unit of work, such as a download. XPC's
/// transactions have the same purpose.
///
/// ```swift
/// let activity = service.beginActivity()
/// try await download(file)
/// activity.end()
/// ```
///
/// A token does not delay an end by a signal or a cancellation. If the service has just decided to end because it is
/// idle, a new token keeps it alive for the patience of ``EventService/run(following:keeping:patience:idleExit:onReady:alongside:onStopping:)``.
///
/// - Isolation: from any thread.
public final class ActivityToken: Sendable {
    private let count: ActivityCount
    private let hasEnded = Atomic<Bool>(false)

    init(_ count: ActivityCount) {
        self.count = count
        count.begin()
    }
    deinit { end() }
    /// Ends the activity, as the release of the token does. A second call does nothing.
    public func end() {
        if !hasEnded.exchange(true, ordering: .acquiringAndReleasing) { count.end() }
    }
}

/// How many tokens there are, and whom to notify when there is none any more.
final class ActivityCount: Sendable {
    private struct State {
        var count = 0
        var onNone: (@Sendable () -> Void)?
    }
    private let state = Mutex(State())

    var value: Int { state.withLock { $0.count } }
    func begin() { state.withLock { $0.count += 1 } }
    func end() {
        let body = state.withLock { state in
            state.count -= 1
            return state.count == 0 ? state.onNone : nil
        }
        body?()
    }
    func onNone(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.onNone = body } }
}

extension EventService {
    /// Begins an activity. During the activity, the service does not end because it is idle.
    ///
    /// - Returns: a token that ends the activity when it is released, or by ``ActivityToken/end()``.
    public func beginActivity() -> ActivityToken { ActivityToken(core.idle.activities) }
}
