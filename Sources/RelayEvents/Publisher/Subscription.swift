import Synchronization

/// Keeps a subscription alive. The subscription ends when this object is cancelled or released.
///
/// - Isolation: from any thread, also within the subscription's own handler.
/// - Cancellation: after ``cancel()`` returns on the delivery's own isolation (its actor, its serial queue, the thread
///   that drains its pollable target), the handler is not called again. If you cancel from elsewhere, a call that has
///   begun may still be running.
public final class Subscription: Sendable {
    fileprivate enum State {
        case active(any SubscriptionBody)
        case cancelled(missed: Int, failure: (any Error)?)
    }
    private let state: Mutex<State>

    package init(_ body: any SubscriptionBody) { state = Mutex(.active(body)) }
    deinit { cancel() }

    /// Ends the subscription, and releases its handler. A second call does nothing.
    public func cancel() {
        guard let body = state.withLock({ $0.body }) else { return }
        body.cancel()
        let (missed, failure) = (body.missed, body.failure)
        // The handler's captures may be released here, so not under the lock.
        state.withLock { $0 = .cancelled(missed: missed, failure: failure) }
    }
    /// Whether events can still come. False once the subscription was cancelled, its buffer ended it, or its publisher
    /// is gone.
    public var isActive: Bool { state.withLock { $0.body }?.isActive ?? false }
    /// How many events are missing so far, with or without a handler for gaps. A gap without a count counts as one.
    public var missed: Int {
        switch state.withLock({ $0 }) {
        case .active(let body): body.missed
        case .cancelled(let missed, _): missed
        }
    }
    /// The error that its handler threw once too often, with which a relay has ended the subscription; nil otherwise.
    public var failure: (any Error)? {
        switch state.withLock({ $0 }) {
        case .active(let body): body.failure
        case .cancelled(_, let failure): failure
        }
    }
}

extension Subscription.State {
    fileprivate var body: (any SubscriptionBody)? { if case .active(let body) = self { body } else { nil } }
}

/// What a `Subscription` stands for.
package protocol SubscriptionBody: AnyObject, Sendable {
    func cancel()
    var isActive: Bool { get }
    var missed: Int { get }
    /// With which a handler has ended it.
    var failure: (any Error)? { get }
}

extension SubscriptionBody {
    package var failure: (any Error)? { nil }
}
