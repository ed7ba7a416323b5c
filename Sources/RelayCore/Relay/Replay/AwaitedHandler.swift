/// A positioned subscription whose handler may wait, and may throw.
///
/// It is called with one event after the other, or with what is there together, and the position passes an event when the
/// handler has returned. After an error it is called again with the same event, after each pause of
/// `RelayTiming.handlerRetries`. Then the subscription ends with the error.
final class AwaitedHandler<Payload: Sendable>: TaskSubscription {
    /// An event or a gap, and where it leaves the subscription; nil where no position is kept.
    struct Item: Sendable {
        let taken: ReplaySource<Payload>.Taken
        let place: ReplayBuffer.Place?
    }
    /// What is called.
    struct Handling: Sendable {
        /// How much it takes together.
        let most: Int
        /// Of several, one that fails is tried again by itself.
        let handler: ThrowingHandler<[Item]>
        /// Whether an error passes by itself, so that there is no last attempt.
        var isPassing: @Sendable (any Error) -> Bool = { _ in false }

        static func one(
            _ handler: ThrowingHandler<(Payload, Stamp)>, _ onGap: ThrowingHandler<Gap>
        ) -> Self {
            Self(
                most: 1,
                handler: .init { items in
                    for item in items {
                        switch item.taken {
                        case .event(let payload, let stamp): try await handler.call((payload, stamp))
                        case .gap(let gap): try await onGap.call(gap)
                        case .caughtUp: break
                        }
                    }
                })
        }
    }
    private struct Held: Sendable {
        var items: [Item] = []
        /// So many are tried one by one.
        var alone = 0
    }
    private enum Next { case news, retry(Duration), end }
    let calls: HandlerTask<Payload>
    private let handling: Handling
    private let place: DeliveryPlace
    /// What the subscription keeps alive.
    private let kept: (any Actor)?
    private let pauses: [Duration]
    private let report: @Sendable (HandlerReport) -> Void
    /// How many events are handled before others on the same place get their turn.
    private static var batch: Int { 128 }

    init(
        _ source: ReplaySource<Payload>, _ route: DeliveryRoute, retries pauses: [Duration],
        _ handling: Handling, _ report: @escaping @Sendable (HandlerReport) -> Void
    ) {
        (calls, self.handling) = (HandlerTask(source), handling)
        (place, kept, self.pauses, self.report) = (route.place, route.keeps, pauses, report)
    }
    func begin() {
        // A handler that is on no actor, with the delivery on one, goes on the threads for handlers.
        calls.begin(on: place.taskExecutor ?? HandlerThreads.ofProcess) { await self.run() }
    }

    private func run() async {
        var held = Held()
        var retries = HandlerRetries(pauses)
        loop: while true {
            if held.items.isEmpty, await !source.feed.wait(isolation: nil) { break }
            let next: Next
            switch place {
            case .actor(let actor): next = await deliver(&held, &retries, isolation: actor)
            case .weakActor(let reference):
                // Waits off the actor, so that it can go meanwhile.
                guard let actor = reference.actor else {
                    report(.released)
                    break loop
                }
                next = await deliver(&held, &retries, isolation: actor)
            case .threads, .executor, .queue, .pollable: next = await deliver(&held, &retries, isolation: nil)
            }
            switch next {
            case .news: continue
            case .retry(let pause): if await !calls.pause(for: pause) { break loop }
            case .end: break loop
            }
        }
        cancel()
    }

    // MARK: On the handler's own isolation

    private func deliver(
        _ held: inout Held, _ retries: inout HandlerRetries, isolation: isolated (any Actor)?
    ) async -> Next {
        var left = Self.batch
        while calls.takes {
            fill(&held)
            if held.items.isEmpty { break }
            let batch = held.alone > 0 ? [held.items[0]] : held.items
            do {
                try await handling.handler.call(batch)
            } catch {
                // Which of them it was shows when each is tried.
                if batch.count > 1, calls.takes, !Task.isCancelled {
                    held.alone = batch.count
                    continue
                }
                return step(after: error, &retries)
            }
            held.items.removeFirst(batch.count)
            held.alone = max(0, held.alone - 1)
            retries.reset()
            if let place = batch.last(where: { $0.place != nil })?.place { source.acknowledge(place) }
            left -= batch.count
            if left <= 0 {
                left = Self.batch
                await Task.yield()
            }
        }
        return calls.takes ? .news : .end
    }
    private func fill(_ held: inout Held) {
        if !held.items.isEmpty { return }
        while held.items.count < handling.most, let taken = source.next() {
            if case .caughtUp = taken { continue }
            held.items.append(Item(taken: taken, place: source.takePlace()))
        }
    }
    private func step(after error: any Error, _ retries: inout HandlerRetries) -> Next {
        if !calls.takes || Task.isCancelled { return .end }
        if error is SubscriberReleased {
            report(.released)
            return .end
        }
        guard let pause = retries.next() ?? (handling.isPassing(error) ? pauses.last : nil) else {
            calls.fail(error)
            report(.ended(error))
            return .end
        }
        report(.threw(error, pause: pause))
        return .retry(pause)
    }
}
