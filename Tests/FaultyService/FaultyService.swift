import Dispatch
import Glibc
import RelayCore
import RelayJournal
import RelayTestKit
import Relocation
import RelocationDomain
import Synchronization
import TestSupport

/// Composed like `relay-service`, with fault switches, and with a ledger to write into.
///
/// `--bus ADDRESS --state-directory DIR [--serve ledger|old-ledger|kind-ledger|minutes] [--synchronous normal]
/// [--fault STEP|creating|opening|checkpointing|commit|checking --when FILE]`, once the file is there: ends itself at the step, or
/// in the middle of making the journal, of a start with a WAL, or of the first checkpoint after a commit; fails to sync the
/// commit; or begins to check the whole journal beside its work.
@main struct FaultyService {
    static func main() async {
        let arguments = CommandLine.arguments
        let serving = Task { try await run(ProgramOptions(arguments)) }
        let end = endOnSignal(serving)
        do {
            try await serving.value
        } catch {
            say("\(error)")
            exit(exitCode(error))
        }
        withExtendedLifetime(end) {}
    }
    /// SIGTERM ends it as it ends `relay-service`.
    private static func endOnSignal(_ serving: Task<Void, any Error>) -> any DispatchSourceSignal {
        signal(SIGTERM, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: SIGTERM, queue: .global())
        source.setEventHandler { @Sendable in serving.cancel() }
        source.resume()
        return source
    }

    private static func run(_ options: ProgramOptions) async throws {
        let directory = options.required("state-directory")
        let disk = try FaultDisk()
        let journal =
            switch options["fault"] {
            case nil: try EventJournal(directory: directory, synchronous: synchronous(options))
            case "commit"?:
                try EventJournal(
                    directory: directory, faults: failing(disk, when: options.required("when")), vfs: disk.name)
            case "creating"?, "opening"?, "checkpointing"?:
                try EventJournal(
                    directory: directory,
                    faults: ending(disk, options.required("fault"), when: options.required("when")),
                    vfs: disk.name)
            case "checking"?:
                try EventJournal(directory: directory, faults: holding(until: options.required("when")))
            case let step?:
                try EventJournal(
                    directory: directory, faults: CrashPoint(at: step, when: options.required("when")).journal)
            }
        defer { withExtendedLifetime(disk) {} }
        let bus = Bus.address(options.required("bus"))
        func service(_ interface: any EventInterface.Type) throws -> EventService {
            try EventService(name: Ledger1.service, on: bus, exporting: interface, journal: journal)
        }
        let served: EventService
        switch options["serve"] {
        case "ledger":
            served = try service(Ledger1.self)
            serveLedger(served, journal)
        case "minutes": served = try service(Minutes1.self)
        case "old-ledger":
            served = try service(OldLedger1.self)
            served.handle(OldLedger1.Add.self) { [served] command, _ in
                try await served.publish(OldLedger1.Entry(number: command.number))
            }
        case "kind-ledger":
            served = try service(KindLedger1.self)
            served.handle(KindLedger1.Add.self) { [served] command, _ in
                try await served.publish(KindLedger1.Entry(number: command.number, text: "new"))
            }
        default:
            served = try service(Relocation1.self)
            try await serveRelocation(served, journal)
        }
        do {
            try await served.run { say("ready") }
            journal.close()
        } catch {
            if journal.failure != nil { throw JournalFailed() }
            throw error
        }
    }
    private struct JournalFailed: Error {}
    /// As those of `relay-service`.
    private static func exitCode(_ error: any Error) -> Int32 {
        if error is JournalFailed { return 74 }
        return (error as? RelayError)?.code == .unavailable ? 69 : 70
    }
    private static func synchronous(_ options: ProgramOptions) -> EventJournal.Synchronous {
        options["synchronous"] == "normal" ? .normal : .full
    }
    /// A disk on which the next commit fails, once the trigger is there.
    private static func failing(_ disk: FaultDisk, when trigger: String) -> JournalFaults {
        var faults = disk.faults
        faults.at = { step in
            if step == .beforeCommit, access(trigger, F_OK) == 0 { disk.fail(.sync, with: .syncing, of: "-wal") }
        }
        return faults
    }

    /// A check that waits for the trigger.
    private static func holding(until trigger: String) -> JournalFaults {
        var faults = JournalFaults()
        faults.checking = { while access(trigger, F_OK) != 0 { usleep(1_000) } }
        return faults
    }
    /// A disk on which the process ends at a write, once the trigger is there.
    private static func ending(_ disk: FaultDisk, _ place: String, when trigger: String) -> JournalFaults {
        var faults = disk.faults
        let isThere = access(trigger, F_OK) == 0
        switch place {
        // The second page of the first tables, behind their rollback journal.
        case "creating" where isThere: disk.fail(.write, with: .ending, skipping: 1, of: ".sqlite")
        // The frames that are written again, behind the WAL's header.
        case "opening" where isThere: disk.fail(.write, with: .ending, skipping: 1, of: "-wal")
        case "checkpointing":
            let isArmed = Mutex(false)
            // Only checkpoints write to the file itself: at its second page.
            faults.at = { step in
                guard step == .beforeCommit, access(trigger, F_OK) == 0 else { return }
                let isFirst = isArmed.withLock { isArmed in
                    defer { isArmed = true }
                    return !isArmed
                }
                if isFirst { disk.fail(.write, with: .ending, skipping: 1, of: ".sqlite") }
            }
        default: break
        }
        return faults
    }

    private static func serveLedger(_ service: EventService, _ journal: EventJournal) {
        service.handle(Ledger1.Write.self) { command, _ in
            for unit in 0..<command.units {
                let first = command.first + unit * command.count
                try await journal.unitOfWork { unit in
                    for number in first..<(first + command.count) {
                        try unit.publish(Ledger1.Entry(number: number, text: command.text))
                    }
                }
            }
        }
        service.handle(Ledger1.WriteOnce.self) { command, _, unit in
            try unit.publish(Ledger1.Entry(number: command.number, text: command.idempotencyKey ?? ""))
            return Ledger1.WriteOnce.Reply(answer: .random(in: 0...Int64.max))
        }
        service.handle(Ledger1.Mark.self) { command, _ in
            try await service.publish(Ledger1.Marked(number: command.number))
        }
        service.handle(Ledger1.Ping.self) { _, _ in }
    }
    private static func serveRelocation(_ service: EventService, _ journal: EventJournal) async throws {
        let commands = RelocationCommands(store: try await JournalStore(journal))
        service.handle(OrderBox.self) { command, _ in try await commands.handle(command) }
        service.handle(DistributeItem.self) { command, _ in try await commands.handle(command) }
        service.handle(RemoveBox.self) { command, _ in try await commands.handle(command) }
        service.handle(RemoveItem.self) { command, _ in try await commands.handle(command) }
        service.handle(Contents.self) { command, _ in try await commands.handle(command) }
    }

    private static func say(_ text: String) {
        var line = text + "\n"
        line.withUTF8 { _ = write(2, $0.baseAddress, $0.count) }
    }
}
