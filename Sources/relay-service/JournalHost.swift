import Glibc
import RelayCore
import RelayDaemon
import RelayJournal
import RelayTool
import Relocation
import RelocationDomain
import RelayInspection

/// The journal of the domains that keep something, and what is in it.
struct JournalHost {
    let journal: EventJournal
    let store: JournalStore
    private let directory: String
    /// Whether this start has made it.
    private let isDirectoryNew: Bool
    private let synchronous: ServiceOptions.Synchronous

    /// Throws `ServiceFailure` with the exit code.
    ///
    /// - Parameter patience: how long to wait for the service before this one, which may still close its journal.
    static func open(
        _ options: ServiceOptions, waiting patience: Duration, _ environment: [String: String], _ log: Log
    ) async throws -> JournalHost {
        let (directory, isNew) = try prepareDirectory(options, environment)
        var opened: EventJournal?
        do {
            let journal = try await EventJournal.open(
                directory: directory, waiting: patience, synchronous: options.synchronous == .full ? .full : .normal,
                onNotice: { log.write($0) })
            opened = journal
            return JournalHost(
                journal: journal,
                store: try await JournalStore(journal, keepsInventory: options.domains.contains(.inventory)),
                directory: directory, isDirectoryNew: isNew, synchronous: options.synchronous)
        } catch {
            removeUnused(opened, isNew ? directory : nil)
            if case .cancelled = error {
                throw RelayError(.cancelled, "the service was to end before it had opened its journal")
            }
            throw ServiceFailure(error)
        }
    }
    /// After a start that failed: what was made for it goes, if nothing was kept in it.
    func removeUnused() { Self.removeUnused(journal, isDirectoryNew ? directory : nil) }
    private static func removeUnused(_ journal: EventJournal?, _ newDirectory: String?) {
        journal?.closeUnused()
        // Fails where there is anything in it.
        if let newDirectory { rmdir(newDirectory) }
    }
    private static func prepareDirectory(
        _ options: ServiceOptions, _ environment: [String: String]
    ) throws(ServiceFailure) -> (path: String, isNew: Bool) {
        let directory: StateDirectory
        do throws(RelayError) {
            directory = try StateDirectory.find(options.stateDirectory, environment: environment)
        } catch {
            throw ServiceFailure(code: .usage, message: error.message)
        }
        let isNew: Bool
        do throws(RelayError) {
            isNew = try directory.prepare()
        } catch {
            throw ServiceFailure(error)
        }
        return (directory.path, isNew)
    }

    func serve(on service: EventService) {
        let commands = RelocationCommands(store: store)
        service.handle(OrderBox.self) { command, _ in try await commands.handle(command) }
        service.handle(DistributeItem.self) { command, _ in try await commands.handle(command) }
        service.handle(RemoveBox.self) { command, _ in try await commands.handle(command) }
        service.handle(RemoveItem.self) { command, _ in try await commands.handle(command) }
        service.handle(Contents.self) { command, _ in try await commands.handle(command) }
    }

    /// Before the service is there for others.
    func refreshInventory() async throws { try await store.refreshInventory() }

    /// How much there is; nothing of what.
    func logState(_ log: Log) async {
        let text =
            if let kept = try? await journal.statistics(of: Relocation1.self) {
                ", head \(kept.head), oldest \(kept.oldest), events \(kept.events), bytes \(kept.bytes)"
                    + ", fileBytes \(kept.fileBytes), walBytes \(kept.walBytes), checked \(kept.isChecked ? 1 : 0)"
            } else {
                ""
            }
        log.info("journal: \(directory), synchronous \(synchronous.rawValue)\(text)")
    }
}
