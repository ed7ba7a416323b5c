package import RelayCore
package import RelayJournal
import Synchronization

/// A mirror of one service of another host: its replica, and the service that serves it on this host's bus.
///
/// - Order, loss: those of the origin. See "What is promised" in MIRRORS.md.
/// - Isolation: `run()` is one task, which alone decides what is committed and what is served.
/// - Cancellation: ends the service as any, then closes the replica.
package final class MirrorService: Sendable {
    package let name: MirrorName
    private let configuration: MirrorConfiguration
    private let carrier: any MirrorCarrier
    private let figures: Mutex<MirrorFigures>

    package init(_ configuration: MirrorConfiguration, carrier: any MirrorCarrier) {
        (name, self.configuration, self.carrier) = (configuration.name, configuration, carrier)
        figures = Mutex(MirrorFigures())
    }
    /// How far it has come. From any thread.
    package var status: MirrorFigures { figures.withLock { $0 } }

    /// Follows the origin's channels, and serves the replica, until it is cancelled.
    ///
    /// - Parameter onReady: is called each time that the mirror's name is owned.
    /// - Throws: `.conflict` if another process has the mirror's name or its directory, `.unavailable` for a replica
    ///   that is damaged or has failed. A bus, a carrier or a disk that is away is waited for.
    package func run(onReady: @escaping @Sendable () -> Void = {}) async throws {
        do {
            let replica = try await opened()
            defer { replica.close() }
            // On threads that a commit may hold, and that a message's own thread can stand in for.
            try await withTaskExecutorPreference(HandlerThreads.own) {
                // Again with each interface that the origin has got since.
                while true { try await follow(replica, onReady) }
            }
        } catch  where Task.isCancelled {}
    }
    /// Waits for a disk that has no room to open it.
    private func opened() async throws -> ReplicaJournal {
        while true {
            do {
                return try ReplicaJournal(
                    directory: configuration.directory, retention: ReplicaRetention(configuration.retention),
                    faults: configuration.faults, vfs: configuration.vfs, onNotice: configuration.onNotice)
            } catch .storageFull {
                let trouble = "the replica in \(configuration.directory) cannot be opened: the disk is full"
                figures.withLock { $0.trouble = trouble }
            }
            try await Task.sleep(for: configuration.timing.retry)
        }
    }
    /// Returns when there is another interface to follow.
    private func follow(_ replica: ReplicaJournal, _ onReady: @escaping @Sendable () -> Void) async throws {
        var places: [String: KeptPlace] = [:]
        for (interface, bytes) in try await replica.states() { places[interface] = try KeptPlace(bytes) }
        let interfaces = try await interfaces(besides: Set(places.keys))
        let house = MirrorHouse(configuration, replica, onReady)
        let followers = interfaces.sorted().map { ChannelFollower($0, places[$0] ?? KeptPlace()) }
        do {
            try await withThrowingTaskGroup { group in
                group.addTask { [self] in
                    try await MirrorLoop(followers, configuration, carrier, replica, house) { [self] change in
                        figures.withLock { change(&$0) }
                    }.run()
                }
                group.addTask { [self] in
                    while try await !hasAnother(than: interfaces) {
                        try await Task.sleep(for: configuration.timing.look)
                    }
                }
                defer { group.cancelAll() }
                try await group.next()
            }
        } catch {
            await house.end()
            throw error
        }
        await house.end()
    }
    /// Those that are configured, or else those that the carrier or the replica has: at least one.
    private func interfaces(besides kept: Set<String>) async throws -> Set<String> {
        if !configuration.interfaces.isEmpty { return Set(configuration.interfaces) }
        while true {
            var found = kept
            do throws(RelayError) { found.formUnion(try await channels().map(\.interface)) } catch {
                figures.withLock { $0.trouble = error.message }
            }
            if !found.isEmpty { return found }
            try await Task.sleep(for: configuration.timing.retry)
        }
    }
    private func channels() async throws(RelayError) -> [ChannelName] {
        try await carrier.channels().filter { $0.host == name.host && $0.service == name.service }
    }
    /// Whether the carrier has a channel that is to be followed, too, and can be: one that has a snapshot.
    private func hasAnother(than interfaces: Set<String>) async throws -> Bool {
        if !configuration.interfaces.isEmpty { return false }
        do throws(RelayError) {
            for channel in try await channels() where !interfaces.contains(channel.interface) {
                let source = try await carrier.source(of: channel)
                if try await source.newestSnapshot(within: try await source.bounds()) != nil { return true }
            }
        } catch {
            // The followers say what is wrong with the carrier.
        }
        return false
    }
}

/// The settings of a mirror.
package struct MirrorConfiguration: Sendable {
    package struct Timing: Sendable {
        /// Between two attempts at what is away.
        package var retry = Duration.seconds(1)
        /// Between two looks for interfaces that are new.
        package var look = Duration.seconds(5)
        package init() {}
    }
    package let name: MirrorName
    package let bus: Bus
    /// The replica's.
    package let directory: String
    /// Those to mirror; empty: all that the carrier has.
    package var interfaces: [String] = []
    /// In place of what the origin's contracts require; nil: that holds.
    package var requirement: PeerRequirement?
    package var retention = Retention.standard
    package var timing = Timing()
    package var onNotice: @Sendable (Notice) -> Void = { _ in }
    /// Those of a test's disk.
    package var faults = JournalFaults()
    /// SQLite's file layer, of a test's disk; nil: its own.
    package var vfs: String?

    package init(_ name: MirrorName, on bus: Bus, directory: String) {
        (self.name, self.bus, self.directory) = (name, bus, directory)
    }
}

/// How far a mirror has come, for people.
package struct MirrorFigures: Sendable {
    package struct Interface: Sendable {
        /// The last sequence that was taken in.
        package var position: UInt64 = 0
        /// The run that comes next.
        package var epoch: UInt64 = 0
        /// Messages that were taken in by this process, and how many the channel has behind them.
        package var messages: UInt64 = 0
        package var lag: UInt64 = 0
        /// The channel's last event that is known.
        package var head: UInt64 = 0
        /// When the last event that was taken in was published.
        package var lastAt: Timestamp?
        /// Messages that brought nothing; ranges that the channel did not have; how often the channel was looked up.
        package var duplicates: UInt64 = 0
        package var gaps: UInt64 = 0
        package var resyncs: UInt64 = 0
    }
    package var interfaces: [String: Interface] = [:]
    package var isServing = false
    /// What it waits for; nil: nothing.
    package var trouble: String?
}
