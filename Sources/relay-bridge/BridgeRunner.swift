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
        let carrier = try FileCarrier(directory: options.carrier)
        manager.ready(status: "running")
        defer { manager.stopping(within: .seconds(60)) }
        switch options.task {
        case .export: try await all { service in try await export(service, carrier) }
        case .mirror(let directory):
            let state: StateDirectory
            do throws(RelayError) {
                state = try StateDirectory.find(directory, environment: environment)
                if try state.prepare() { log.info("made \(state.path)") }
            } catch { throw ServiceFailure(code: .cannotCreate, message: error.message) }
            try await all { service in try await mirror(service, carrier, state.path) }
        }
        log.info("finished, as asked", .finished)
    }
    private func all(_ body: @escaping @Sendable (String) async throws -> Void) async throws {
        try await withThrowingTaskGroup { group in
            for service in Set(options.services).sorted() { group.addTask { try await body(service) } }
            try await group.waitForAll()
        }
    }
    private func export(_ service: String, _ carrier: FileCarrier) async throws {
        let exporter = try MirrorExporter(
            of: service, at: options.host, interfaces: options.interfaces.isEmpty ? nil : options.interfaces,
            to: carrier, on: options.bus)
        log.info("exports \(service) as \(options.host) to \(options.carrier)", .ready)
        try await exporter.run()
    }
    private func mirror(_ service: String, _ carrier: FileCarrier, _ directory: String) async throws {
        let name = try MirrorName(of: service, at: options.host)
        var configuration = MirrorConfiguration(
            name, on: options.bus, directory: "\(directory)/\(options.host).\(service)")
        configuration.interfaces = options.interfaces
        configuration.onNotice = { [log] in log.write($0) }
        let mirror = MirrorService(configuration, carrier: carrier)
        try await mirror.run { [log] in log.info("ready: \(name)", .ready) }
    }
}
