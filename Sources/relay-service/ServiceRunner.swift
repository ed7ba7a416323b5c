import BusProcess
import Glibc
import RelayCore
import RelayDaemon
import RelayJournal
import RelaySystemd
import RelayTool
import Relocation
import Synchronization
import Telemetry

/// The composition root: puts bus, service and domains together, and runs them.
struct ServiceRunner {
    let options: ServiceOptions
    let environment: [String: String]
    let log: Log
    /// What the command line and the settings say now.
    private let reread: @Sendable () throws(ServiceFailure) -> ServiceOptions

    private let manager = ServiceManager()
    /// How long a service that was started on demand waits for the directory: its last run has the bus's name no more,
    /// and finishes.
    private static let patience = Duration.seconds(30)

    init(
        options: ServiceOptions, environment: [String: String], log: Log,
        reread: @escaping @Sendable () throws(ServiceFailure) -> ServiceOptions
    ) {
        (self.options, self.environment, self.log, self.reread) = (options, environment, log, reread)
    }
    /// Returns when the task is cancelled, or when nobody has used the service for its time. Throws what ends it
    /// otherwise.
    func run() async throws {
        let kept = try await openJournal()
        let progress = Progress()
        var daemon: BusDaemon?
        do {
            let bus: Bus
            (bus, daemon) = try chooseBus()
            try await serve(on: bus, kept, progress)
        } catch {
            await daemon?.stop()
            if !progress.wasReady { kept?.removeUnused() }
            throw error
        }
        log.info("released \(options.name)")
        kept?.journal.close()
        await daemon?.stop()
    }
    /// How far a start has come.
    private final class Progress: Sendable {
        private let flag = Atomic<Bool>(false)
        var wasReady: Bool { flag.load(ordering: .relaxed) }
        func setReady() { flag.store(true, ordering: .relaxed) }
    }
    private func openJournal() async throws -> JournalHost? {
        guard options.domains.contains(.relocation) else { return nil }
        // The bus says so by the first, systemd by the second.
        let isOnDemand = environment["DBUS_STARTER_ADDRESS"] != nil || manager.isPresent || options.idleExit != nil
        do {
            return try await manager.extendingTimeout {
                try await JournalHost.open(options, waiting: isOnDemand ? Self.patience : .zero, environment, log)
            }
        } catch let failure as ServiceFailure {
            // Everybody may read the status; the log is for administrators.
            manager.status(failure.message)
            throw failure
        }
    }
    private func serve(on bus: Bus, _ kept: JournalHost?, _ progress: Progress) async throws {
        let service = try makeService(on: bus, kept)
        kept?.serve(on: service)
        try await kept?.refreshInventory()
        await kept?.logState(log)
        let telemetry = options.domains.contains(.telemetry) ? try TelemetryHost(options, on: service, log) : nil
        try telemetry?.start()
        defer { telemetry?.stop() }
        let domains = options.domains.map(\.rawValue).sorted().joined(separator: ", ")
        let idleExit = options.idleExit.map { Duration.seconds($0) }
        try await service.run(under: manager, idleExit: idleExit) {
            progress.setReady()
            log.info("ready: \(options.name) on \(bus), domain \(domains)", .ready)
        } onReload: {
            try reload(telemetry)
            await kept?.logState(log)
        }
        log.info(Task.isCancelled ? "finished, as asked" : "finished: nobody has used the service", .finished)
    }
    /// Throws when the settings are wrong; then all is as before.
    private func reload(_ telemetry: TelemetryHost?) throws(RelayError) {
        let new: ServiceOptions
        do throws(ServiceFailure) { new = try reread() } catch {
            log.error("not reloaded, and all is as before: \(error.message)")
            throw RelayError(.invalidArgument, error.message, cause: error)
        }
        telemetry?.setRate(new.rate)
        let later = new.changesAtNextStart(from: options)
        if !later.isEmpty { log.warning("changed, but only with the next start: \(Words.list(later))") }
        log.info("reloaded: log level \(new.logLevel.name)" + (telemetry == nil ? "" : ", rate \(new.rate)"))
        log.setLevel(new.logLevel)
    }
    private func makeService(on bus: Bus, _ kept: JournalHost?) throws -> EventService {
        let report: @Sendable (Notice) -> Void = { [log] in log.write($0) }
        var interfaces: [any EventInterface.Type] = []
        if options.domains.contains(.relocation) { interfaces.append(Relocation1.self) }
        if options.domains.contains(.inventory) { interfaces.append(Inventory1.self) }
        if options.domains.contains(.telemetry) { interfaces.append(Telemetry1.self) }
        guard let journal = kept?.journal else {
            return try EventService(
                name: options.name, on: bus, exporting: interfaces, admitting: options.requirement, onNotice: report
            )
        }
        return try EventService(
            name: options.name, on: bus, exporting: interfaces, journal: journal, admitting: options.requirement,
            onNotice: report)
    }

    // MARK: Bus

    private func chooseBus() throws(RelayError) -> (Bus, BusDaemon?) {
        switch options.bus {
        case .session: return (.session, nil)
        case .system: return (.system, nil)
        case .address(let address): return (.address(address), nil)
        case .own: return try startOwnBus()
        case nil:
            if !Bus.hasSession(environment: environment) {
                throw RelayError(
                    .unavailable,
                    "no bus: DBUS_SESSION_BUS_ADDRESS is not set, and XDG_RUNTIME_DIR has no socket 'bus'; run within a "
                        + "session, name a bus with --bus ADDRESS or --system, or start a private one with --own-bus")
            }
            return (.session, nil)
        }
    }
    private func startOwnBus() throws(RelayError) -> (Bus, BusDaemon?) {
        var refusal: RelayError?
        for folder in OwnBusFolder.candidates(environment: environment, userID: geteuid()) {
            if let refusal { log.warning("\(refusal.message); trying \(folder.path) instead") }
            do throws(RelayError) {
                try folder.prepare()
            } catch {
                refusal = error
                continue
            }
            let daemon = try BusDaemon(directory: folder.path)
            log.info("own bus: \(daemon.address)")
            return (.address(daemon.address), daemon)
        }
        throw refusal ?? RelayError(.unavailable, "no folder for a bus: set XDG_RUNTIME_DIR")
    }
}
