import RelayCore
import RelayDaemon
import RelayMirrors
import RelaySystemd

/// Looks once a second how exporters and mirrors are: says what has changed in the log, and publishes it on the bus.
struct BridgeWatch {
    let exporters: [MirrorExporter]
    let mirrors: [MirrorService]
    let bus: Bus
    let log: Log
    let manager: ServiceManager
    private var troubles: [String: String] = [:]
    private var laggingSince: [String: ContinuousClock.Instant] = [:]

    init(_ exporters: [MirrorExporter], _ mirrors: [MirrorService], on bus: Bus, _ log: Log, _ manager: ServiceManager)
    {
        (self.exporters, self.mirrors, self.bus, self.log, self.manager) = (exporters, mirrors, bus, log, manager)
    }
    /// Until the task is cancelled.
    mutating func run() async throws {
        var service: EventService?
        var running: Task<Void, any Error>?
        var retry = ContinuousClock.now
        defer { running?.cancel() }
        while !Task.isCancelled {
            let status = status(now: .now)
            tell(status)
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
        for exporter in exporters {
            for export in exporter.status {
                let key = "\(exporter.service) \(export.interface)"
                if export.lag == 0 { laggingSince[key] = nil } else { laggingSince[key] = laggingSince[key] ?? now }
                status.exports.append(
                    BridgeStatus.Export(
                        service: exporter.service, interface: export.interface, position: export.position ?? 0,
                        head: export.head, lag: export.lag,
                        lagSeconds: laggingSince[key].map { Double(Int((now - $0) / .seconds(1))) } ?? 0,
                        margin: export.margin ?? 0, events: export.events, messages: export.messages,
                        trouble: export.error ?? exporter.trouble ?? ""))
            }
        }
        for mirror in mirrors {
            let figures = mirror.status
            for (interface, figure) in figures.interfaces.sorted(by: { $0.key < $1.key }) {
                status.mirrors.append(
                    BridgeStatus.Mirror(
                        host: mirror.name.host, service: mirror.name.service, interface: interface,
                        position: figure.position, messages: figure.messages, lagMessages: figure.lag,
                        isServing: figures.isServing, trouble: figures.trouble ?? ""))
            }
        }
        return status
    }

    // MARK: The log

    private mutating func tell(_ status: BridgeStatus) {
        for exporter in exporters { note("exporting \(exporter.service)", exporter.trouble ?? "") }
        for export in status.exports { note("exporting \(export.interface) of \(export.service)", export.trouble) }
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
