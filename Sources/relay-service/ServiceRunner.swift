import Glibc
import RelayCore
import RelayJournal
import RelayTool
import Relocation
import RelocationDomain
import Synchronization

/// The composition root: puts bus, service and domain together, and runs them.
struct ServiceRunner {
    static let name = "org.eventrelay.Service1"
    let options: ServiceOptions
    let environment: [String: String]
    let log: Log

    /// Returns when the task is cancelled. Throws what ends the service otherwise.
    func run() async throws {
        let directory = try prepareStateDirectory()
        let (journal, store) = try await openJournal(in: directory)
        let (bus, daemon) = try chooseBus()
        let service: EventService
        do {
            service = try EventService(name: Self.name, on: bus, exporting: Relocation1.self, journal: journal)
        } catch let error as RelayError where UnfitFile.explains(error) || error.cause is SQLiteError {
            throw ServiceFailure(opening: error)
        }
        switch options.domain {
        case .relocation: serve(RelocationCommands(store: store), on: service)
        }
        await tellState(of: journal, in: directory)
        do {
            try await service.run { log.info("ready: \(Self.name) on \(bus), domain \(options.domain.rawValue)") }
        } catch {
            await daemon?.stop()
            throw failure(journal) ?? error
        }
        log.info("released \(Self.name)")
        journal.close()
        await daemon?.stop()
    }

    // MARK: Journal

    private func prepareStateDirectory() throws(ServiceFailure) -> String {
        let directory: StateDirectory
        do throws(RelayError) {
            directory = try StateDirectory.find(options.stateDirectory, environment: environment)
        } catch {
            throw ServiceFailure(code: .usage, message: error.message)
        }
        do throws(RelayError) {
            try directory.prepare()
        } catch {
            throw ServiceFailure(code: .cannotCreate, message: error.message)
        }
        return directory.path
    }
    private func openJournal(in directory: String) async throws -> (EventJournal, JournalStore) {
        do {
            let journal = try EventJournal(
                directory: directory, synchronous: options.synchronous == .full ? .full : .normal)
            return (journal, try await JournalStore(journal))
        } catch {
            throw ServiceFailure(opening: error)
        }
    }
    /// How much there is; nothing of what.
    private func tellState(of journal: EventJournal, in directory: String) async {
        let figures = (try? await journal.access.storage.figures(of: Relocation1.name)) ?? []
        let told = figures.map { ", \($0.name) \($0.value)" }.joined()
        log.info("journal: \(directory), synchronous \(options.synchronous.rawValue)\(told)")
    }
    /// Why the service ended, if that was the journal's doing.
    private func failure(_ journal: EventJournal) -> ServiceFailure? {
        let reason = Mutex<RelayError?>(nil)
        // Calls back at once, or never again that anybody is there to hear it.
        journal.access.storage.onFailure { error in reason.withLock { $0 = error } }
        return reason.withLock { $0 }.map { ServiceFailure(code: .outputFailed, message: $0.message) }
    }

    // MARK: Bus

    private func chooseBus() throws(RelayError) -> (Bus, BusDaemon?) {
        switch options.bus {
        case .session: return (.session, nil)
        case .system: return (.system, nil)
        case .address(let address): return (.address(address), nil)
        case .own: return try startOwnBus()
        case nil:
            if environment["DBUS_SESSION_BUS_ADDRESS"]?.isEmpty ?? true {
                throw RelayError(
                    .unavailable,
                    "no bus: DBUS_SESSION_BUS_ADDRESS is not set; run within a session, name a bus with --bus ADDRESS or "
                        + "--system, or start a private one with --own-bus")
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

    private func serve(_ commands: RelocationCommands<JournalStore>, on service: EventService) {
        service.handle(OrderBox.self) { command, _ in try await commands.handle(command) }
        service.handle(DistributeItem.self) { command, _ in try await commands.handle(command) }
        service.handle(RemoveBox.self) { command, _ in try await commands.handle(command) }
        service.handle(RemoveItem.self) { command, _ in try await commands.handle(command) }
        service.handle(Contents.self) { command, _ in try await commands.handle(command) }
    }
}
