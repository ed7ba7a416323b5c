package import RelayCore
import Synchronization
import RelayWire

/// Exports the durable interfaces of a service to channels, for mirrors on other hosts. See "The exporter" in MIRRORS.md.
///
/// - Order: each channel has an interface's events in the order of their sequences.
/// - Isolation: the origin waits for nothing of this.
/// - Loss: none, as long as the origin's journal has the events; a snapshot names what it has removed.
/// - Cancellation: of the task that runs it: at any point, without harm to the channels.
package final class MirrorExporter: Sendable {
    /// The name that an exporter of a service owns on the bus: the lock.
    package static func lockName(of service: String) -> String { "org.eventrelay.Exporter1.\(service)" }

    package let service: String
    package let host: String
    private let interfaces: Set<String>?
    private let carrier: any MirrorCarrier
    private let bus: Bus
    private let timing: ExporterTiming
    private let statuses = Mutex<[String: ExportStatus]>([:])
    private let ownTrouble = Mutex<String?>(nil)
    /// This process's, for people and for the channels' readers.
    package let writer: UInt64

    /// Throws `.invalidArgument` for a host's or a service's name that is none, and for a mirror's.
    ///
    /// - Parameter interfaces: which to export; nil: all durable ones, also those that the service has later.
    package init(
        of service: String, at host: String, interfaces: [String]? = nil, to carrier: any MirrorCarrier, on bus: Bus,
        writer: UInt64 = UInt64.random(in: 1...UInt64.max), timing: ExporterTiming = ExporterTiming()
    ) throws(RelayError) {
        let name = try MirrorName(of: service, at: host)
        try BusNames.check(Self.lockName(of: service), as: .wellKnownName)
        for interface in interfaces ?? [] { try BusNames.check(interface, as: .interface) }
        (self.service, self.host, self.interfaces) = (name.service, name.host, interfaces.map { Set($0) })
        (self.carrier, self.bus, self.timing, self.writer) = (carrier, bus, timing, writer)
    }
    /// How each interface stands, by name.
    package var status: [ExportStatus] {
        statuses.withLock { $0.values.sorted { $0.interface < $1.interface } }
    }

    /// What keeps it from the service as a whole; nil: nothing does.
    package var trouble: String? { ownTrouble.withLock { $0 } }

    // MARK: Running

    private enum Outcome {
        /// Of the service, which may have others after its next start.
        case found([String])
        case lockLost
    }
    /// Exports until the task is cancelled: it ends by an error only.
    ///
    /// Throws `.conflict` where another exporter has the lock, or exports another history of the same host's service;
    /// `.invalidArgument` for an interface that is volatile; `.cancelled`.
    package func run() async throws(RelayError) {
        do {
            try await withTaskExecutorPreference(HandlerThreads.own) {
                let loop = try BusLoop(name: "relay-exporter")
                defer { loop.stop() }
                var pause = timing.firstPause
                while true {
                    do {
                        let lock = try await takeLock(loop)
                        pause = timing.firstPause
                        ownTrouble.withLock { $0 = nil }
                        try await export(lock, loop)
                    } catch let error as RelayError where ![.cancelled, .conflict].contains(error.code) {
                        note(error)
                    }
                    if Task.isCancelled { throw RelayError(.cancelled, "the exporter's task was cancelled") }
                    await Bell().wait(atMost: pause)
                    pause = min(pause * 2, timing.longestPause)
                }
            }
        } catch let end as InterfaceExporter.End {
            throw end.error
        } catch { throw RelayError(asking: service, error) }
    }
    private func takeLock(_ loop: BusLoop) async throws(RelayError) -> OriginConnection {
        let lock = try await OriginConnection.open(
            bus, on: loop, service: service, interface: nil, Bell(), timing)
        let name = Self.lockName(of: service)
        // One that has just ended may have it for a moment.
        for _ in 0..<3 {
            if try await lock.own(name) { return lock }
            await lock.bell.wait(atMost: timing.firstPause)
        }
        throw RelayError(
            .conflict, "\(name) has an owner on \(bus): \(service) has an exporter already; stop that one first")
    }
    /// Until the lock is lost, or an exporter ends.
    private func export(_ lock: OriginConnection, _ loop: BusLoop) async throws {
        try await withThrowingTaskGroup(of: Outcome.self) { group in
            defer { group.cancelAll() }
            var running: Set<String> = []
            func begin(_ names: some Sequence<String>) {
                for name in names where running.insert(name).inserted {
                    group.addTask { [self] in try await export(name, loop) }
                }
            }
            if let interfaces { begin(interfaces.sorted()) }
            group.addTask { [self] in try await watch(lock, after: nil) }
            while let outcome = try await group.next() {
                switch outcome {
                case .lockLost: return
                case .found(let names):
                    if interfaces == nil { begin(names) }
                    let owner = lock.owner
                    group.addTask { [self] in try await watch(lock, after: owner) }
                }
            }
        }
    }
    /// Waits for another owner of the service's name, and asks it what it has.
    private func watch(_ lock: OriginConnection, after owner: String?) async throws -> Outcome {
        while lock.isOpen {
            if Task.isCancelled { throw RelayError(.cancelled, "the exporter's task was cancelled") }
            let present = lock.owner
            if present == nil {
                ownTrouble.withLock { $0 = "\(service) is not on the bus: its events are exported when it runs" }
            } else if present == owner {
                ownTrouble.withLock { $0 = nil }
            } else {
                do throws(RelayError) {
                    let contracts = try await Origin.contracts(of: lock)
                    ownTrouble.withLock { $0 = nil }
                    return .found(contracts.values.filter(\.isDurable).map(\.name).sorted())
                } catch { note(error) }
            }
            await lock.bell.wait(atMost: timing.look)
            if lock.isOpen { await lock.askOwner() }
        }
        return .lockLost
    }
    private func export(_ interface: String, _ loop: BusLoop) async throws -> Outcome {
        let channel = try ChannelName(host: host, service: service, interface: interface)
        var exporter = InterfaceExporter(channel, to: carrier, on: bus, loop, timing, writer: writer) {
            [weak self] change in
            self?.statuses.withLock { change(&$0[interface, default: ExportStatus(interface: interface)]) }
        }
        try await exporter.run()
    }
    private func note(_ error: RelayError) { ownTrouble.withLock { $0 = error.message } }
}
