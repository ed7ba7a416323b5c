/// What takes from a queue, and what it does now: a value under the lock of the queue.
///
/// A task that waits is part of the state, and of no other one: so none waits beside a consumer that takes, and each is
/// resumed once. The code that gets a waiter here resumes it where no lock is held. As with `Deque`, the code is open to
/// other modules, so that it is not generic there.
package struct QueueConsumer<Value: Sendable>: Sendable {
    package typealias Waiter = UnsafeContinuation<Value, Never>
    /// How the consumer learns of news; to be done once the lock is released.
    package enum Notification: Sendable {
        /// It takes, or was notified before.
        case none
        /// By a call.
        case call
        /// By resuming its tasks.
        case resume(Waiter, then: [Waiter])
    }
    /// A task, and by what its cancellation finds it.
    @usableFromInline struct Waiting: Sendable {
        @usableFromInline let ticket: UInt64
        @usableFromInline let waiter: Waiter

        @inlinable init(_ waiter: Waiter, _ ticket: UInt64) { (self.waiter, self.ticket) = (waiter, ticket) }
    }
    @usableFromInline enum State: Sendable {
        /// Has not come yet.
        case new
        /// Takes.
        case busy
        /// Found nothing, and is to be called.
        case idle
        /// Was notified, and has not come yet.
        case notified
        /// Tasks that found nothing. The first one came first.
        case waiting(Waiting, then: [Waiting])
    }
    @usableFromInline var state = State.new
    @usableFromInline var lastTicket: UInt64 = 0

    @inlinable package init() {}

    /// A task waits.
    @inlinable package var isWaiting: Bool { if case .waiting = state { true } else { false } }
    /// It has asked, and found nothing.
    @inlinable package var foundNothing: Bool {
        switch state {
        case .idle, .waiting: true
        case .new, .busy, .notified: false
        }
    }
    /// It is to be notified of news.
    @inlinable package var isResting: Bool {
        switch state {
        case .new, .idle, .waiting: true
        case .busy, .notified: false
        }
    }
    /// It was notified after it had found nothing, and has not come yet.
    @inlinable package var isNotified: Bool { if case .notified = state { true } else { false } }

    // MARK: The filling side

    /// There is something to take, or nothing comes any more.
    @inlinable package mutating func notify() -> Notification {
        switch state {
        case .busy, .notified: return .none
        case .new:
            state = .busy
            return .call
        case .idle:
            state = .notified
            return .call
        case .waiting(let first, let others):
            state = .notified
            return .resume(first.waiter, then: others.map(\.waiter))
        }
    }
    /// The task that came first, to be handed what has come.
    @inlinable package mutating func takeFirst() -> Waiter? {
        guard case .waiting(let first, var others) = state else { return nil }
        if others.isEmpty {
            state = .busy
        } else {
            let next = others.removeFirst()
            state = .waiting(next, then: others)
        }
        return first.waiter
    }
    /// All tasks that wait.
    @inlinable package mutating func takeAll() -> [Waiter] {
        guard case .waiting(let first, let others) = state else { return [] }
        state = .busy
        return [first.waiter] + others.map(\.waiter)
    }

    // MARK: The consumer's side

    /// It took something. Tasks that wait beside it go on waiting.
    @inlinable package mutating func take() { if !isWaiting { state = .busy } }
    /// There was nothing to take: it is to be notified.
    @inlinable package mutating func rest() { if !isWaiting { state = .idle } }
    /// For one task's `wait`.
    @inlinable package mutating func makeTicket() -> UInt64 {
        lastTicket += 1
        return lastTicket
    }
    /// A task waits from now on.
    @inlinable package mutating func add(_ waiter: Waiter, _ ticket: UInt64) {
        let next = Waiting(waiter, ticket)
        if case .waiting(let first, let others) = state {
            state = .waiting(first, then: others + [next])
        } else {
            state = .waiting(next, then: [])
        }
    }
    /// The task with this ticket waits no longer. Nil: it was resumed, or did not begin to.
    @inlinable package mutating func remove(_ ticket: UInt64) -> Waiter? {
        guard case .waiting(let first, var others) = state else { return nil }
        if first.ticket == ticket {
            _ = takeFirst()
            rest()
            return first.waiter
        }
        guard let index = others.firstIndex(where: { $0.ticket == ticket }) else { return nil }
        let removed = others.remove(at: index)
        state = .waiting(first, then: others)
        return removed.waiter
    }

    /// Suspends the calling task until it is resumed.
    ///
    /// - Parameters:
    ///   - cancelled: what it gets when it is cancelled.
    ///   - enter: under the queue's lock: what it gets at once, also when it is cancelled already; or nil, after `add`.
    ///   - leave: under the queue's lock: `remove`, when it is cancelled.
    package static func wait(
        isolation: isolated (any Actor)?, cancelled: Value, enter: (Waiter) -> Value?, leave: @Sendable () -> Waiter?
    ) async -> Value {
        await withTaskCancellationHandler {
            await withUnsafeContinuation { waiter in
                if let value = enter(waiter) { waiter.resume(returning: value) }
            }
        } onCancel: {
            leave()?.resume(returning: cancelled)
        }
    }
}

extension QueueConsumer.Notification where Value == Void {
    @inlinable package func run(_ call: () -> Void) {
        switch self {
        case .none: break
        case .call: call()
        case .resume(let first, let others):
            first.resume()
            for waiter in others { waiter.resume() }
        }
    }
}
