import Synchronization

/// Brings a state, then the events behind it, to where a subscription's handlers run.
///
/// No event is taken from the stream while a snapshot is awaited: the buffer is the only queue, and a durable interface
/// is read again instead of overflowing it.
final class SnapshotFollower<Payload: Sendable, State: Sendable>: AwaitableSubscription {
    /// What a snapshot is of.
    struct Snapshot: Sendable {
        let epoch: UInt64
        let sequence: UInt64
        let state: State
    }
    typealias Item = ReplaySource<Payload>.Taken
    private struct Progress: Sendable {
        var join: SnapshotJoin
        /// Whether the stream counts from before the first snapshot.
        var hasBegun = false
        /// Looked at, and to be shown again.
        var held: Item?
        var snapshot: Snapshot?
    }
    private let source: ReplaySource<Payload>
    private let ask: @Sendable () async throws -> Snapshot
    private let onState: Handler<State>
    private let onEvent: Handler<(Payload, Stamp)>
    private let onFailure: Handler<RelayError>
    private let onEnd: @Sendable () -> Void
    private let eventsAreStates: Bool
    private let timing: RelayTiming
    private let place: DeliveryPlace
    /// What the subscription keeps alive.
    private let kept: (any Actor)?
    private let activity = HandlerActivity()
    /// A handler may wait for others: nobody waits for it.
    private let maySuspend: Bool
    private let task = Mutex<Task<Void, Never>?>(nil)
    /// How many items are delivered before others on the same place get their turn.
    private static var batch: Int { 512 }

    /// - Parameters:
    ///   - source: of a stream that begins now.
    ///   - ask: asks the service for the state.
    ///   - onEnd: is called when nothing more comes.
    ///   - eventsAreStates: each event is a whole state.
    init(
        _ source: ReplaySource<Payload>, _ route: DeliveryRoute, _ timing: RelayTiming,
        asking ask: @escaping @Sendable () async throws -> Snapshot,
        onState: Handler<State>, onEvent: Handler<(Payload, Stamp)>, onFailure: Handler<RelayError>,
        onEnd: @escaping @Sendable () -> Void = {}, eventsAreStates: Bool = false, maySuspend: Bool = false
    ) {
        (self.source, self.ask, self.onEnd, self.eventsAreStates) = (source, ask, onEnd, eventsAreStates)
        (self.onState, self.onEvent, self.onFailure) = (onState, onEvent, onFailure)
        (place, kept, self.maySuspend, self.timing) = (route.place, route.keeps, maySuspend, timing)
        source.feed.followed.store(.following, ordering: .relaxed)
    }
    /// Begins. Detached: a subscription must not inherit its maker's priority and task-local values.
    func start() {
        task.withLock { $0 = Task.detached(executorPreference: place.taskExecutor) { await self.run() } }
    }
    func cancel() {
        source.cancel()
        task.withLock { $0 }?.cancel()
    }
    var handlerThread: UInt { activity.thread }
    var isActive: Bool { source.isActive }
    var missed: Int { source.feed.missed }
    private func begin() { if !maySuspend { activity.begin() } }

    private func run() async {
        defer { onEnd() }
        var progress = Progress(join: SnapshotJoin(eventsAreStates: eventsAreStates))
        var last: ContinuousClock.Instant?
        while !Task.isCancelled {
            if progress.hasBegun, progress.join.needsSnapshot {
                if let last { try? await Task.sleep(until: last + timing.queryPace) }
                guard let snapshot = await nextSnapshot() else { break }
                (progress.snapshot, last) = (snapshot, .now)
            } else if progress.held == nil, await !source.feed.wait(isolation: nil) {
                break
            }
            switch place {
            case .actor(let actor): await deliver(&progress, isolation: actor)
            case .weakActor(let reference):
                // Waits off the actor, so that it can go meanwhile.
                guard let actor = reference.actor else { return cancel() }
                await deliver(&progress, isolation: actor)
            case .threads, .executor, .queue, .pollable: await deliver(&progress, isolation: nil)
            }
        }
        cancel()
    }
    /// Asks until there is an answer; nil at the end of the subscription or of its relay.
    private func nextSnapshot() async -> Snapshot? {
        var (pause, reported) = (Backoff(timing.queryRetry), RelayError.Code?.none)
        while !source.feed.isFinished, !Task.isCancelled {
            do {
                return try await ask()
            } catch {
                if source.feed.isFinished || Task.isCancelled { return nil }
                let failure = error as? RelayError ?? RelayError(.internalFailure, "\(error)", cause: error)
                if failure.code != reported { await report(failure) }
                reported = failure.code
                let isUnreachable = failure.code == .unavailable
                source.feed.followed.store(isUnreachable ? .unreachable : .failing, ordering: .relaxed)
            }
            try? await Task.sleep(for: pause.next())
            source.feed.followed.store(.following, ordering: .relaxed)
        }
        return nil
    }
    private func report(_ failure: RelayError) async {
        switch place {
        case .actor(let actor): await report(failure, isolation: actor)
        case .weakActor(let reference): if let actor = reference.actor { await report(failure, isolation: actor) }
        case .threads, .executor, .queue, .pollable: await report(failure, isolation: nil)
        }
    }

    // MARK: On the handlers' own isolation

    private func report(_ failure: RelayError, isolation: isolated (any Actor)?) async {
        begin()
        if isActive { await onFailure(failure) }
        activity.end()
    }
    private func deliver(_ progress: inout Progress, isolation: isolated (any Actor)?) async {
        if let snapshot = progress.snapshot {
            progress.snapshot = nil
            progress.join.snapshot(epoch: snapshot.epoch, sequence: snapshot.sequence)
            begin()
            if isActive { await onState(snapshot.state) }
            activity.end()
        }
        // Until there is nothing: what the source has put aside behind a gap brings no news.
        var left = Self.batch
        while isActive, let item = progress.held ?? source.next() {
            progress.held = nil
            switch step(item, &progress) {
            case .apply:
                guard case .event(let payload, let stamp) = item else { break }
                begin()
                if isActive { await onEvent((payload, stamp)) }
                activity.end()
            case .skip: break
            case .ask: progress.held = item
            }
            if progress.join.needsSnapshot { return }
            left -= 1
            if left == 0 {
                left = Self.batch
                await Task.yield()
            }
        }
    }
    private func step(_ item: Item, _ progress: inout Progress) -> SnapshotJoin.Step {
        progress.hasBegun = true
        return switch item {
        case .event(_, let stamp): progress.join.event(stamp)
        case .gap(let gap): progress.join.gap(gap)
        case .caughtUp: .skip
        }
    }
}

/// What the consumer of a followed state is about: tests wait until it rests.
enum SnapshotPhase: UInt8, AtomicRepresentable {
    /// No state is followed.
    case none
    /// It works, or waits for news.
    case following
    /// It waits before a query that found no service is sent again.
    case unreachable
    /// It waits before a query that failed otherwise is sent again.
    case failing
}
