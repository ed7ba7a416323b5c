import RelayBridge
import RelayCore
import RelayDaemon
import RelayMirrors
import RelaySystemd
import Synchronization

/// Looks once a second how exporters and mirrors are: says what has changed in the log, and publishes it on the bus.
struct BridgeWatch {
    private let exporters: [MirrorExporter]
    private let cloudEvents: [CloudEventExporter]
    private let mirrors: [MirrorService]
    private let carrier: BridgeCarrier
    private let host: String
    private let bus: Bus
    private let log: Log
    private let manager: ServiceManager
    private var troubles: [String: String] = [:]
    private var laggingSince: [String: ContinuousClock.Instant] = [:]

    init(
        _ exporters: [MirrorExporter], _ cloudEvents: [CloudEventExporter], _ mirrors: [MirrorService],
        _ carrier: BridgeCarrier, host: String, on bus: Bus,
        _ log: Log, _ manager: ServiceManager
    ) {
        (self.exporters, self.cloudEvents, self.mirrors, self.carrier, self.host) = (
            exporters, cloudEvents, mirrors, carrier, host
        )
        (self.bus, self.log, self.manager) = (bus, log, manager)
    }
    /// Until the task is cancelled.
    mutating func run() async throws {
        var service: EventService?
        var running: Task<Void, any Error>?
        var retry = ContinuousClock.now
        defer { running?.cancel() }
        while !Task.isCancelled {
            let status = status(now: .now)
            tell()
            if service == nil, ContinuousClock.now >= retry {
                retry = .now + .seconds(30)
                if let begun = await begin() {
                    service = begun
                    running = Task { try await begun.run() }
                }
            }
            if let present = service {
                do { try present.document(BridgeStatus.self).set(status) } catch {
                    // It has ended, as the bus has.
                    (service, running) = (nil, nil)
                }
            }
            try? await Task.sleep(for: .seconds(1))
        }
        _ = try? await service?.stop()
    }
    /// nil: there is no bus, or another bridge has the name.
    private mutating func begin() async -> EventService? {
        do {
            let service = try EventService(name: Bridge1.name, on: bus, exporting: Bridge1.self)
            try await service.start()
            note("status", "")
            return service
        } catch {
            note("status", "\(Bridge1.name) is not on the bus: \((error as? RelayError)?.message ?? "\(error)")")
            return nil
        }
    }
    private mutating func status(now: ContinuousClock.Instant) -> BridgeStatus {
        var status = BridgeStatus.initial
        (status.host, status.carrier, status.guarantee) = (host, carrier.name, carrier.guarantee)
        for exporter in exporters {
            let others = cloudEvents.first { $0.service == exporter.service }?.status ?? [:]
            for figures in exporter.status {
                var export = BridgeStatus.Export(service: exporter.service, interface: figures.interface)
                (export.position, export.head, export.lag) = (figures.position ?? 0, figures.head, figures.lag)
                (export.margin, export.resyncs) = (figures.margin ?? 0, figures.resyncs)
                (export.events, export.messages) = (figures.events, figures.messages)
                export.lagSeconds = age(of: figures, "\(exporter.service) \(figures.interface)", now)
                export.trouble = figures.error ?? exporter.trouble ?? ""
                export.cloudEvents = others[figures.interface]?.position ?? 0
                status.exports.append(export)
            }
        }
        for mirror in mirrors {
            let figures = mirror.status
            for (interface, figure) in figures.interfaces.sorted(by: { $0.key < $1.key }) {
                var one = BridgeStatus.Mirror(
                    host: mirror.name.host, service: mirror.name.service, interface: interface)
                (one.position, one.head) = (figure.position, max(figure.head, figure.position))
                (one.lag, one.lagMessages) = (one.head - one.position, figure.lag)
                (one.messages, one.duplicates) = (figure.messages, figure.duplicates)
                (one.gaps, one.resyncs) = (figure.gaps, figure.resyncs)
                if figure.lag > 0, let last = figure.lastAt { one.lagSeconds = Self.seconds(since: last) }
                (one.isServing, one.trouble) = (figures.isServing, figures.trouble ?? "")
                status.mirrors.append(one)
            }
        }
        return status
    }
    /// Of the oldest event that is not acknowledged. One that was not read is as old as this program's knowledge of it.
    private mutating func age(of figures: ExportStatus, _ key: String, _ now: ContinuousClock.Instant) -> Double {
        if figures.lag == 0 {
            laggingSince[key] = nil
            return 0
        }
        let since = laggingSince[key] ?? now
        laggingSince[key] = since
        return figures.waitingSince.map(Self.seconds) ?? Double(Int((now - since) / .seconds(1)))
    }
    private static func seconds(since time: Timestamp) -> Double {
        let now = Timestamp.now.microseconds
        return Double((now - min(now, time.microseconds)) / 1_000_000)
    }

    // MARK: The log

    private mutating func tell() {
        for exporter in exporters {
            note("exporting \(exporter.service)", exporter.trouble ?? "")
            for export in exporter.status {
                note("exporting \(export.interface) of \(exporter.service)", export.error ?? "")
            }
        }
        for exporter in cloudEvents {
            for (interface, status) in exporter.status {
                note("appending CloudEvents of \(interface) of \(exporter.service)", status.trouble ?? "")
            }
        }
        for mirror in mirrors {
            note("mirroring \(mirror.name.service) of \(mirror.name.host)", mirror.status.trouble ?? "")
        }
        let waiting = troubles.values.count { !$0.isEmpty }
        manager.status(
            waiting == 0
                ? "\(exporters.count) services exported, \(mirrors.count) mirrored"
                : "\(exporters.count) services exported, \(mirrors.count) mirrored; \(waiting) wait: see the log")
    }
    /// Says what is new about something; empty: all is well.
    private mutating func note(_ what: String, _ trouble: String) {
        let before = troubles.updateValue(trouble, forKey: what) ?? ""
        if before == trouble { return }
        if trouble.isEmpty { log.info("\(what) goes on") } else { log.warning("\(what) waits: \(trouble)") }
    }
}

/// The bridge's carrier, and what it says that its acknowledgements mean: it may be away for long, and be another one
/// when it comes back.
final class BridgeCarrier: Sendable {
    let carrier: any MirrorCarrier
    let name: String
    private let text = Mutex("")

    init(_ carrier: any MirrorCarrier, name: String) { (self.carrier, self.name) = (carrier, name) }
    /// Empty: it has not said it yet.
    var guarantee: String { text.withLock { $0 } }

    /// Asks until the task is cancelled; says in the log what is new.
    func run(_ log: Log) async {
        while !Task.isCancelled {
            let found = try? await carrier.guarantee()
            if let found,
                text.withLock({ text in
                    defer { text = found }
                    return text != found
                })
            {
                log.info("\(name): \(found)")
            }
            try? await Task.sleep(for: found == nil ? .seconds(10) : .seconds(600))
        }
    }
}
