import RelayBridge
import RelayCore
import RelayDaemon
import RelayJournal
import RelayMirrors
import RelaySystemd
import RelayTool

/// Runs an exporter or a mirror for each service, until all are told to end, or one fails for good.
struct BridgeRunner {
    private let options: BridgeOptions
    private let environment: [String: String]
    private let log: Log
    private let manager = ServiceManager()

    init(_ options: BridgeOptions, _ environment: [String: String]) {
        (self.options, self.environment, log) = (options, environment, Log(level: options.logLevel))
    }
    func run() async throws {
        let carrier: any MirrorCarrier =
            switch options.carrier {
            case .folder(let path): try FileCarrier(directory: path)
            case .nats(let settings): NatsCarrier(settings)
            }
        var directory = ""
        if !options.mirrors.isEmpty {
            do throws(RelayError) {
                let state = try StateDirectory.find(options.stateDirectory, environment: environment)
                if try state.prepare() { log.info("made \(state.path)") }
                directory = state.path
            } catch { throw ServiceFailure(code: .cannotCreate, message: error.message) }
        }
        manager.ready(status: "running")
        defer { manager.stopping(within: .seconds(60)) }
        let exporters = try Set(options.exports).sorted().map { try exporter($0, carrier) }
        let mirrors = Set(options.mirrors.map(\.description)).sorted().compactMap { MirrorName($0) }.map {
            mirror($0, carrier, directory)
        }
        let others = exporters.compactMap { cloudEvents(beside: $0) }
        try await withThrowingTaskGroup { group in
            for exporter in others { group.addTask { await exporter.run() } }
            for exporter in exporters {
                group.addTask {
                    log.info("exports \(exporter.service) as \(options.host) to \(options.carrier)", .ready)
                    try await exporter.run()
                }
            }
            for mirror in mirrors {
                group.addTask { try await mirror.run { [log] in log.info("ready: \(mirror.name)", .ready) } }
            }
            let named = BridgeCarrier(carrier, name: "\(options.carrier)")
            group.addTask { await named.run(log) }
            group.addTask {
                var watch = BridgeWatch(
                    exporters, others, mirrors, named, host: options.host, on: options.bus, log, manager)
                try await watch.run()
            }
            do { try await group.waitForAll() } catch let error as RelayError
                where error.code == .cancelled && Task.isCancelled
            {
                // The bridge was asked to end: a task that waited throws this.
            }
        }
        log.info("finished, as asked", .finished)
    }
    private func exporter(_ service: String, _ carrier: any MirrorCarrier) throws -> MirrorExporter {
        try MirrorExporter(
            of: service, at: options.host, interfaces: options.interfaces.isEmpty ? nil : options.interfaces,
            to: carrier, on: options.bus)
    }
    /// nil: nobody wants them.
    private func cloudEvents(beside exporter: MirrorExporter) -> CloudEventExporter? {
        guard options.makesCloudEvents, case .nats(let settings) = options.carrier else { return nil }
        return CloudEventExporter(of: exporter.service, at: options.host, settings, on: options.bus) {
            exporter.status.map(\.interface)
        }
    }
    private func mirror(_ name: MirrorName, _ carrier: any MirrorCarrier, _ directory: String) -> MirrorService {
        var configuration = MirrorConfiguration(
            name, on: options.bus, directory: "\(directory)/\(name.host).\(name.service)")
        configuration.interfaces = options.interfaces
        configuration.requirement = options.admitted
        configuration.onNotice = { [log] in log.write($0) }
        return MirrorService(configuration, carrier: carrier)
    }
}

extension BridgeOptions.Carrier: CustomStringConvertible {
    var description: String {
        switch self {
        case .folder(let path): path
        case .nats(let settings): settings.shown
        }
    }
}
