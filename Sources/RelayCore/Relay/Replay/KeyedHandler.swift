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
    /// Says that an event was handled.
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
            _ = await hasAtMost(0)
        }
        cancel()
    }
    /// Waits until so many are unfinished; false: the subscription has ended.
    private func hasAtMost(_ count: Int) async -> Bool {
        var news = progress.stream.makeAsyncIterator()
        while state.withLock({ $0.places.count }) > count {
            // Nil when the task was cancelled.
            if await news.next(isolation: nil) == nil { return false }
        }
        return isActive
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
        var next: Work? = first
        while let work = next {
            guard await attempt({ try await self.call(work, isolation: self.actors.event) }) else { return }
            let key = work.key
            let passed = state.withLock { state in
                if state.waiting[key]?.isEmpty == false {
                    next = state.waiting[key]?.removeFirst()
                } else {
                    (state.waiting[key], next) = (nil, nil)
                }
                return state.places.finish(work.number)
            }
            if let passed { source.acknowledge(passed) }
            source.feed.unhandled.wrappingSubtract(1, ordering: .sequentiallyConsistent)
            progress.continuation.yield()
        }
    }
    // On the actor, so that nothing comes between the look at whether this was cancelled and the call.
    private func call(_ work: Work, isolation: isolated (any Actor)?) async throws {
        guard isActive else { throw CancellationError() }
        try await handler.call((work.payload, work.stamp))
    }
    private func call(_ gap: Gap, isolation: isolated (any Actor)?) async throws {
        guard isActive else { throw CancellationError() }
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
                if !calls.takes || Task.isCancelled { return false }
                guard let pause = retries.next() else {
                    calls.fail(error)
                    report(.ended(error))
                    cancel()
                    return false
                }
                report(.threw(error, pause: pause))
                do { try await Task.sleep(for: pause) } catch { return false }
            }
        }
    }
}
