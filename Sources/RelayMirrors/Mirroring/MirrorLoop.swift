import RelayCore
import RelayJournal

/// The mirror's one loop: what each channel brings is committed in turn, and served by its run.
///
/// Invariants: a change is committed before anything follows from it at the bus; what a run's service sends is of that
/// run alone; what was not committed is never counted.
struct MirrorLoop: ~Copyable {
    private struct Channel {
        var follower: ChannelFollower
        var source: (any MirrorSource)?
        /// Waits for more, behind a number, where the source does not ring.
        var waiting: Task<Void, Never>?
        /// When to try again.
        var retry: UInt64 = 0
    }
    /// So much is committed together at the most: about what one fsync takes.
    private static let batch = 4 << 20
    /// What is smaller is committed by the loop itself: to hand it to another task would take as long.
    private static let small = 64 << 10
    /// How soon it is noticed that a connection has ended.
    private static let look = Duration.milliseconds(250)
    /// Where others notice that.
    private static let rest = Duration.seconds(60)
    private var channels: [Channel]
    private let configuration: MirrorConfiguration
    private let carrier: any MirrorCarrier
    private let replica: ReplicaJournal
    private let house: MirrorHouse
    private let note: @Sendable ((inout MirrorFigures) -> Void) -> Void
    /// Something may be there: more in a channel, the end of a service, the time for another attempt.
    private let news = Bell()
    /// The one that is under way.
    private var commit: Task<Bool, any Error>?
    /// When the name may be tried again.
    private var retry: UInt64 = 0
    private var isServing = false

    init(
        _ followers: [ChannelFollower], _ configuration: MirrorConfiguration, _ carrier: any MirrorCarrier,
        _ replica: ReplicaJournal, _ house: MirrorHouse,
        _ note: @escaping @Sendable ((inout MirrorFigures) -> Void) -> Void
    ) {
        channels = followers.map { Channel(follower: $0) }
        (self.configuration, self.carrier, self.replica) = (configuration, carrier, replica)
        (self.house, self.note) = (house, note)
    }
    deinit {
        for channel in channels { channel.waiting?.cancel() }
    }

    consuming func run() async throws {
        do {
            while true {
                try Task.checkCancellation()
                let hasMoved = try await turn()
                if !hasMoved { await news.wait(atMost: rings ? Self.look : Self.rest) }
            }
        } catch {
            // What comes after this loop finds the replica as it is left.
            commit?.cancel()
            _ = await commit?.result
            throw error
        }
    }
    /// Whether there is a source that nobody looks after while it has nothing.
    private var rings: Bool { channels.contains { $0.source != nil && $0.waiting == nil } }
    /// Returns whether anything was done: then there may be more.
    private mutating func turn() async throws -> Bool {
        var (changes, held): ([(interface: String, ChannelFollower.Change)], Int?) = ([], nil)
        var hasMoved = false
        for index in channels.indices where held == nil {
            guard try await connect(index) else { continue }
            let (found, isLast) = await collect(index)
            if found.isEmpty { continue }
            changes += found.map { (channels[index].follower.interface, $0) }
            hasMoved = true
            if isLast { held = index }
        }
        // The last change ends the run that is served.
        let last = held == nil ? nil : changes.popLast()
        if !changes.isEmpty { try await begin(changes) }
        if let last {
            try await finish()
            await endService()
            try await begin([last])
        }
        if try await serve() { hasMoved = true }
        if !hasMoved, commit != nil {
            try await finish()
            hasMoved = true
        }
        return hasMoved
    }

    // MARK: Channels

    private mutating func connect(_ index: Int) async throws -> Bool {
        if channels[index].source != nil { return true }
        guard MonotonicClock.now >= channels[index].retry else { return false }
        let name = configuration.name
        do throws(RelayError) {
            channels[index].source = try await carrier.source(
                of: try ChannelName(
                    host: name.host, service: name.service, interface: channels[index].follower.interface))
            channels[index].follower.connected()
            note { $0.trouble = nil }
            return true
        } catch {
            leave(index, error)
            return false
        }
    }
    private mutating func leave(_ index: Int, _ error: RelayError) {
        channels[index].waiting?.cancel()
        (channels[index].source, channels[index].waiting) = (nil, nil)
        channels[index].follower.disconnected()
        channels[index].retry = MonotonicClock.deadline(after: configuration.timing.retry)
        note { $0.trouble = error.message }
        wake(after: configuration.timing.retry)
    }
    private func wake(after duration: Duration) {
        OwnTimer(after: duration) { [news] in news.ring() }
    }
    /// Reads what there is, up to a batch. `isLast`: the last change ends the run that is served.
    private mutating func collect(_ index: Int) async -> (changes: [ChannelFollower.Change], isLast: Bool) {
        guard let source = channels[index].source else { return ([], false) }
        var (changes, size): ([ChannelFollower.Change], Int) = ([], 0)
        do throws(RelayError) {
            while size < Self.batch {
                switch try await channels[index].follower.step(source) {
                case .passed: continue
                case .nothing(let number):
                    if let number { try await wait(index, behind: number, source) }
                    return (changes, false)
                case .change(let change):
                    changes.append(change)
                    size += change.size
                    if case .end? = channels[index].follower.machine.serviceStep { return (changes, true) }
                    // What is known to be there was read: it need not wait for a look at what has come since.
                    if channels[index].follower.lag == 0 { return (changes, false) }
                }
            }
        } catch { leave(index, error) }
        return (changes, false)
    }
    private mutating func wait(
        _ index: Int, behind number: UInt64, _ source: any MirrorSource
    ) async throws(RelayError) {
        channels[index].waiting?.cancel()
        channels[index].waiting = nil
        // A look at the whole channel is not for every turn.
        if case .message = channels[index].follower.machine.demand, try await source.ring(news, behind: number) {
            return
        }
        channels[index].waiting = Task(executorPreference: HandlerThreads.own) { [news] in
            do throws(RelayError) { try await source.wait(behind: number) } catch {
                // The next step says what is wrong.
            }
            if !Task.isCancelled { news.ring() }
        }
    }

    // MARK: Commits

    /// Begins to commit, when what was begun before is done.
    private mutating func begin(_ changes: [(interface: String, ChannelFollower.Change)]) async throws {
        try await finish()
        var parts: [ReplicaTransaction.Part] = []
        var last: [String: Int] = [:]
        for (interface, change) in changes {
            last[interface] = parts.count
            parts.append(change.part)
        }
        for index in last.values { parts[index].state = try changes[index].1.place.bytes() }
        let states = channels.map { (interface: $0.follower.interface, $0.follower.lag, $0.follower.figures) }
        let committing = Commit(parts, replica, house, configuration.timing.retry, note)
        let body = { @Sendable [note] () async throws -> Bool in
            let hasEnded = try await committing.run()
            note { figures in
                figures.trouble = nil
                for (interface, change) in changes {
                    figures.interfaces[interface, default: .init()].take(change)
                }
                for (interface, lag, more) in states {
                    figures.interfaces[interface]?.lag = lag
                    figures.interfaces[interface]?.take(more)
                }
            }
            return hasEnded
        }
        if changes.reduce(0, { $0 + $1.1.size }) <= Self.small {
            if try await body() { await endService() }
        } else {
            commit = Task(executorPreference: HandlerThreads.own, operation: body)
        }
    }
    private mutating func finish() async throws {
        guard let commit else { return }
        self.commit = nil
        // Cancelled with the mirror; else what waits for room would wait on.
        let hasEnded = try await withTaskCancellationHandler {
            try await commit.value
        } onCancel: {
            commit.cancel()
        }
        if hasEnded { await endService() }
    }

    // MARK: The service

    private mutating func endService() async {
        await house.end()
        isServing = false
        for index in channels.indices { channels[index].follower.ended() }
        note { $0.isServing = false }
    }
    /// Opens the service, where every channel's replica is ready for it. Returns whether it did.
    private mutating func serve() async throws -> Bool {
        if isServing {
            guard let failure = await house.failure else { return false }
            note { $0.trouble = "\((failure as? RelayError)?.message ?? "\(failure)")" }
            await endService()
            retry = MonotonicClock.deadline(after: configuration.timing.retry)
            wake(after: configuration.timing.retry)
        }
        guard MonotonicClock.now >= retry else { return false }
        var runs: [(interface: String, epoch: UInt64, contract: String)] = []
        for channel in channels {
            guard case .open(let epoch)? = channel.follower.machine.serviceStep,
                let contract = channel.follower.contract(of: epoch)
            else { return false }
            runs.append((channel.follower.interface, epoch, contract))
        }
        try await finish()
        do {
            try await house.open(runs) { [news] in news.ring() }
        } catch let error as RelayError where error.code == .unavailable {
            // No bus: it comes.
            note { $0.trouble = error.message }
            retry = MonotonicClock.deadline(after: configuration.timing.retry)
            wake(after: configuration.timing.retry)
            return false
        }
        for (index, run) in runs.enumerated() { channels[index].follower.opened(epoch: run.epoch) }
        isServing = true
        note { ($0.isServing, $0.trouble) = (true, nil) }
        return true
    }
}

extension MirrorFigures.Interface {
    fileprivate mutating func take(_ change: ChannelFollower.Change) {
        let replica = change.place.replica
        (position, epoch) = (replica.position ?? 0, replica.present?.epoch ?? 0)
        messages += 1
        if change.part.gap != nil { gaps += 1 }
        lastAt = change.lastAt ?? lastAt
    }
    fileprivate mutating func take(_ more: ChannelFollower.Figures) {
        head = lag == 0 ? position : max(more.head, position)
        (duplicates, resyncs) = (more.duplicates, more.resyncs)
    }
}

/// One commit, however often it takes.
private struct Commit {
    private let parts: [ReplicaTransaction.Part]
    private let replica: ReplicaJournal
    private let house: MirrorHouse
    private let retry: Duration
    private let note: @Sendable ((inout MirrorFigures) -> Void) -> Void

    init(
        _ parts: [ReplicaTransaction.Part], _ replica: ReplicaJournal, _ house: MirrorHouse, _ retry: Duration,
        _ note: @escaping @Sendable ((inout MirrorFigures) -> Void) -> Void
    ) { (self.parts, self.replica, self.house, self.retry, self.note) = (parts, replica, house, retry, note) }

    /// Returns whether the service had to end for it.
    func run() async throws -> Bool {
        do { return try await apply(parts) } catch .invalidArgument where parts.count > 1 {
            // One of the messages is none that an exporter makes: the others count.
            var hasEnded = false
            for part in parts where try await applyAlone(part) { hasEnded = true }
            return hasEnded
        } catch .invalidArgument { return try await applyAlone(parts[0]) }
    }
    /// What cannot be read is a gap, which names it.
    private func applyAlone(_ part: ReplicaTransaction.Part) async throws -> Bool {
        do { return try await apply([part]) } catch let error as RelayError where error.code == .invalidArgument {
            guard let events = part.events, !events.events.isEmpty else { throw error }
            note { $0.trouble = error.message }
            var rest = part
            let last = events.first + UInt64(events.events.count - 1)
            (rest.events, rest.schemas) = (nil, [:])
            rest.gap = (part.gap?.lowerBound ?? events.first)...last
            return try await apply([rest])
        }
    }
    private func apply(_ parts: [ReplicaTransaction.Part]) async throws -> Bool {
        var hasEnded = false
        while true {
            do {
                try await replica.apply(ReplicaTransaction(parts))
                return hasEnded
            } catch let error as RelayError where error.code == .conflict && !hasEnded {
                // What a running service cannot learn: the next one begins with it.
                await house.end()
                hasEnded = true
            } catch let error as RelayError where error.code == .storageFull || error.code == .unavailable {
                // Nothing was done. A journal that has failed says so each time, and ends the mirror.
                if replica.hasFailed { throw error }
                note { $0.trouble = error.message }
                try await Task.sleep(for: retry)
            }
        }
    }
}
