package import RelayCore
import RelayJournal
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
        let replica = try ReplicaJournal(
            directory: configuration.directory, retention: ReplicaRetention(configuration.retention),
            onNotice: configuration.onNotice)
        defer { replica.close() }
        var places: [String: KeptPlace] = [:]
        for (interface, bytes) in try await replica.states() { places[interface] = try KeptPlace(bytes) }
        let interfaces = try await interfaces(besides: places.keys)
        let house = MirrorHouse(configuration, replica, onReady)
        let loop = MirrorLoop(
            interfaces.map { ChannelFollower($0, places[$0] ?? KeptPlace()) }, configuration, carrier, replica, house
        ) { [self] change in figures.withLock { change(&$0) } }
        do { try await loop.run() } catch {
            await house.end()
            if Task.isCancelled { return }
            throw error
        }
        await house.end()
    }
    /// Those that are configured, or else those that the carrier or the replica has: at least one.
    private func interfaces(besides kept: some Sequence<String>) async throws -> [String] {
        if !configuration.interfaces.isEmpty { return configuration.interfaces.sorted() }
        while true {
            var found = Set(kept)
            do throws(RelayError) {
                let channels = try await carrier.channels()
                found.formUnion(channels.filter { $0.host == name.host && $0.service == name.service }.map(\.interface))
            } catch { figures.withLock { $0.trouble = error.message } }
            if !found.isEmpty { return found.sorted() }
            try await Task.sleep(for: configuration.timing.retry)
        }
    }
}

/// The settings of a mirror.
package struct MirrorConfiguration: Sendable {
    package struct Timing: Sendable {
        /// Between two attempts at what is away.
        package var retry = Duration.seconds(1)
        package init() {}
    }
    package let name: MirrorName
    package let bus: Bus
    /// The replica's.
    package let directory: String
    /// Those to mirror; empty: all that the carrier has at the start.
    package var interfaces: [String] = []
    /// In place of what the origin's contracts require, by interface.
    package var requirements: [String: PeerRequirement] = [:]
    package var retention = Retention.standard
    package var timing = Timing()
    package var onNotice: @Sendable (Notice) -> Void = { _ in }

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
        /// Messages that were taken in by this process.
        package var messages: UInt64 = 0
    }
    package var interfaces: [String: Interface] = [:]
    package var isServing = false
    /// What it waits for; nil: nothing.
    package var trouble: String?
}
