import Synchronization

/// A positioned subscription whose handler is called for several keys at the same time, and in order for each.
///
/// The position is at the lowest event that is not handled. A gap comes when everything before it was handled.
final class KeyedHandler<Payload: Sendable>: TaskSubscription {
    private struct Work: Sendable {
        let payload: Payload
        let stamp: Stamp
        let key: AnyKey
        let number: Int
    }
    private struct State: Sendable {
        var places = UnfinishedPlaces<ReplayBuffer.Place>()
        /// Of keys that are being handled: what comes behind.
        var waiting: [AnyKey: [Work]] = [:]
    }
    let calls: HandlerTask<Payload>
    private let key: @Sendable (Payload) -> any Hashable & Sendable
    private let actors: (event: (any Actor)?, gap: (any Actor)?)
    private let handler: ThrowingHandler<(Payload, Stamp)>
    private let gapHandler: ThrowingHandler<Gap>
    private let pauses: [Duration]
    private let report: @Sendable (HandlerReport) -> Void
    private let state = Mutex(State())
    /// Says that an event was handled, or will not be.
    private let progress = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    /// How many events are handled, or wait for one of their key, at the same time.
    static var limit: Int { 64 }

    /// - Parameter actors: where the handlers run; nil: on threads of their own.
    init(
        _ source: ReplaySource<Payload>, on actors: (event: (any Actor)?, gap: (any Actor)?),
        retries pauses: [Duration],
        by key: @escaping @Sendable (Payload) -> any Hashable & Sendable,
        _ handler: ThrowingHandler<(Payload, Stamp)>, _ gapHandler: ThrowingHandler<Gap>,
        _ report: @escaping @Sendable (HandlerReport) -> Void
    ) {
        (calls, self.pauses, self.key, self.report) = (HandlerTask(source), pauses, key, report)
        (self.actors, self.handler, self.gapHandler) = (actors, handler, gapHandler)
    }
    func begin() { calls.begin(on: HandlerThreads.ofProcess) { await self.run() } }

    private func run() async {
        await withDiscardingTaskGroup { group in
            while calls.takes, await source.feed.wait(isolation: nil) {
                while calls.takes, let taken = source.next() {
                    let place = source.takePlace()
                    switch taken {
                    case .event(let payload, let stamp):
                        // What is taken and not begun is behind the position.
                        guard await hasAtMost(Self.limit - 1) else { break }
                        if let first = begin(payload, stamp, place) { group.addTask { await self.handle(first) } }
                    case .gap(let gap):
                        guard await hasAtMost(0),
                            await attempt({ try await self.call(gap, isolation: self.actors.gap) })
                        else { break }
                        if let place { source.acknowledge(place) }
                    case .caughtUp: break
                    }
                }
            }
        }
        cancel()
    }
    /// Waits until so many are unfinished; false: nothing more is to begin.
    private func hasAtMost(_ count: Int) async -> Bool {
        var news = progress.stream.makeAsyncIterator()
        while calls.mayHandle, state.withLock({ $0.places.count }) > count {
            // Nil when the task was cancelled.
            if await news.next(isolation: nil) == nil { return false }
        }
        return calls.mayHandle
    }
    /// What to handle now; nil: it waits for another one of its key.
    private func begin(_ payload: Payload, _ stamp: Stamp, _ place: ReplayBuffer.Place?) -> Work? {
        let key = AnyKey(key(payload))
        source.feed.unhandled.wrappingAdd(1, ordering: .sequentiallyConsistent)
        return state.withLock { state in
            let work = Work(payload: payload, stamp: stamp, key: key, number: state.places.begin(place))
            guard state.waiting[key] != nil else {
                state.waiting[key] = []
                return work
            }
            state.waiting[key]?.append(work)
            return nil
        }
    }
    private func handle(_ first: Work) async {
        // Also of one that failed: who waits for it may have to give up.
        defer { progress.continuation.yield() }
        var next: Work? = first
        // At the end of a relay, those that wait for one of their key are not begun.
        while calls.mayHandle, let work = next {
            guard await attempt({ try await self.call(work, isolation: self.actors.event) }) else { return }
            let key = work.key
            state.withLock { state in
                if state.waiting[key]?.isEmpty == false {
                    next = state.waiting[key]?.removeFirst()
                } else {
                    (state.waiting[key], next) = (nil, nil)
                }
                // Under the lock: of two that end together, the later place would be followed by the earlier one.
                if let passed = state.places.finish(work.number) { source.acknowledge(passed) }
            }
            source.feed.unhandled.wrappingSubtract(1, ordering: .sequentiallyConsistent)
            progress.continuation.yield()
        }
    }
    // On the actor, so that nothing comes between the look at whether this was cancelled and the call.
    private func call(_ work: Work, isolation: isolated (any Actor)?) async throws {
        guard calls.mayHandle else { throw CancellationError() }
        try await handler.call((work.payload, work.stamp))
    }
    private func call(_ gap: Gap, isolation: isolated (any Actor)?) async throws {
        guard calls.mayHandle else { throw CancellationError() }
        try await gapHandler.call(gap)
    }
    /// Whether the body returned at last. If not, the subscription has ended.
    private func attempt(_ body: @Sendable () async throws -> Void) async -> Bool {
        var retries = HandlerRetries(pauses)
        while true {
            do {
                try await body()
                return true
            } catch {
                if !calls.mayHandle || Task.isCancelled { return false }
                guard let pause = retries.next() else {
                    calls.fail(error)
                    report(.ended(error))
                    cancel()
                    return false
                }
                report(.threw(error, pause: pause))
                if await !calls.pause(for: pause) { return false }
            }
        }
    }
}
