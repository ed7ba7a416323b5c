import Glibc
import RelayCore
import RelayTestKit
import TestTraits
import Testing

/// What `relay-service` keeps, and for whom.
@Suite("What relay-service keeps", .heavy, .tags(.g5, .g6, .g8)) struct PersistenceTests {
    private func contents(_ service: LiveService) async throws -> String {
        let outcome = try await service.runCLI("--json", "call", "Contents")
        try #require(outcome.code == 0, "\(outcome)")
        // But for the run: each has its own.
        return outcome.output.joined().replacing(/"epoch":[0-9]+,/, with: "")
    }

    @Test("boxes, items and numbers go on after the service ended or was killed", arguments: [SIGTERM, SIGKILL])
    func survives(signal: Int32) async throws {
        let service = try await LiveService.start()
        for number in 1...4 {
            #expect(try await service.orderBox("Box \(number)", 5).output == ["x \(number)"])
            let item = try await service.runCLI("call", "DistributeItem", "title=Item \(number)")
            #expect(item.output == ["itemID=\(number) boxID=\(number)"], "\(item)")
            let before = try await contents(service)
            service.program.signal(signal)
            let end = await service.program.outcome()
            #expect(end.exit == (signal == SIGKILL ? .signal(SIGKILL) : .code(0)), "\(end)")
            try await service.restart()
            #expect(try await contents(service) == before)
        }
        let removed = try await service.runCLI("call", "RemoveBox", "boxID=4")
        #expect(removed.code == 0, "\(removed)")
        // Eight before; an item moved, a box removed.
        let sequence = try await service.run(
            "busctl",
            ["--address=\(service.address)", "get-property", LiveService.name, LiveService.object]
                + ["org.eventrelay.Stream1", "Sequence"])
        #expect(sequence.output == ["t 10"], "\(sequence)")
    }

    @Test("a second service on one directory is refused, told whose it is, and changes nothing")
    func secondIsRefused() async throws {
        let service = try await LiveService.start()
        #expect(try await service.orderBox("Kitchen").code == 0)
        let other = try PrivateBus()
        let second = try await RunningProgram.run(
            Programs.service, ["--bus", other.address, "--state-directory", service.state.path],
            environment: Programs.environment())
        #expect(second.code == 75, "\(second)")
        let message =
            "\(service.state.path) is in use by process \(service.program.processID): "
            + "end that service, or give this journal another directory"
        #expect(second.errors.last?.hasSuffix("error: " + message) ?? false, "\(second)")
        #expect(try await service.orderBox("Hall").output == ["x 2"])
        // It is free again when the first one has ended, however that was.
        service.program.signal(SIGKILL)
        _ = await service.program.outcome()
        let third = try RunningProgram(
            Programs.service, ["--bus", other.address, "--state-directory", service.state.path],
            environment: Programs.environment())
        try await third.line(containing: "ready")
        #expect(await third.terminate().code == 0)
    }

    /// Stands before the C library, and lets syncs fail while a file is there: no disk here fails when it is asked to.
    static let failingSync = """
        #include <errno.h>
        #include <stdlib.h>
        #include <sys/syscall.h>
        #include <unistd.h>
        static int fails(void) { return access(getenv("RELAY_FAILING_SYNC"), F_OK) == 0 ? (errno = EIO, 1) : 0; }
        int fsync(int file) { return fails() ? -1 : (int)syscall(SYS_fsync, file); }
        int fdatasync(int file) { return fails() ? -1 : (int)syscall(SYS_fdatasync, file); }
        """
    @Test(
        "a disk that fails at a commit: the caller gets OutcomeUnknown, the service ends with 74, and its restart decides"
    )
    func failsInUse() async throws {
        let (bus, state, folder) = (try PrivateBus(), try TestFolder(), try TestFolder())
        let arguments = ["--bus", bus.address, "--state-directory", state.path]
        try folder.write(Self.failingSync, to: "sync.c")
        let library = folder.path + "/libsync.so"
        // The toolchain's.
        let built = try await RunningProgram.run("clang", ["-shared", "-fPIC", "-o", library, folder.path + "/sync.c"])
        #expect(built.code == 0, "\(built)")
        let failing = try RunningProgram(
            Programs.service, arguments,
            environment: Programs.environment(["LD_PRELOAD": library, "RELAY_FAILING_SYNC": folder.path + "/fail"]))
        try await failing.line(containing: "ready")
        func order() async throws -> RunningProgram.Outcome {
            try await RunningProgram.run(
                Programs.cli, ["--bus", bus.address, "call", "OrderBox", "label=Box", "capacity=5"],
                environment: Programs.environment())
        }
        let ordered = 3
        for _ in 0..<ordered { #expect(try await order().code == 0) }
        try folder.write("", to: "fail")
        let refusal = try await order().errors.joined()
        #expect(refusal.contains("org.eventrelay.Error.OutcomeUnknown"), "\(refusal)")
        let end = await failing.outcome()
        #expect(end.code == 74, "\(end)")
        #expect(end.errors.contains { $0.contains("error: \(state.path)/journal.sqlite") }, "\(end)")

        let next = try RunningProgram(Programs.service, arguments, environment: Programs.environment())
        try await next.line(containing: "ready")
        let kept = try await RunningProgram.run(
            "sqlite3",
            ["-readonly", state.path + "/journal.sqlite", "SELECT count(*) FROM relocation_boxes"]
                + ["SELECT count(*) FROM relay_events"])
        #expect(
            kept.output == ["\(ordered)", "\(ordered)"] || kept.output == ["\(ordered + 1)", "\(ordered + 1)"],
            "\(kept)")
        #expect(await next.terminate().code == 0)
    }

    @Test("a disk without room for a journal is refused at the start with exit code 74, which is tried again")
    func noRoom() async throws {
        let state = try TestFolder()
        // The reserve alone needs more.
        let outcome = try await RunningProgram.run(
            "/bin/bash",
            ["-c", #"trap "" XFSZ; ulimit -f 256; exec "$0" "$@""#, Programs.service]
                + ["--bus", "unix:path=/nonexistent/bus", "--state-directory", state.path],
            environment: Programs.environment())
        #expect(outcome.code == 74, "\(outcome)")
        #expect(outcome.errors.joined().contains("largest size that it may have"), "\(outcome)")
    }

    @Test("a file that is no journal is refused with exit code 65, and left as it is")
    func foreignFile() async throws {
        let state = try TestFolder()
        let text = String(repeating: "no database at all\n", count: 400)
        try state.write(text, to: "journal.sqlite")
        let outcome = try await RunningProgram.run(
            Programs.service, ["--bus", "unix:path=/nonexistent/bus", "--state-directory", state.path],
            environment: Programs.environment())
        #expect(outcome.code == 65, "\(outcome)")
        #expect(outcome.errors.joined().contains("\(state.path)/journal.sqlite is damaged"), "\(outcome)")
        let kept = try await RunningProgram.run("cat", [state.path + "/journal.sqlite"])
        #expect(kept.output.joined(separator: "\n") + "\n" == text)
    }

    @Test("journals of something else, of a newer version and of an earlier form are refused with exit code 65")
    func otherJournals() async throws {
        for (statement, part) in [
            ("CREATE TABLE notes (text)", "is an SQLite file of something else"),
            (
                "PRAGMA application_id = \(0x5265_6C4A); PRAGMA user_version = 99; CREATE TABLE relay_events (x)",
                "newer"
            ),
            (
                "PRAGMA application_id = \(0x526C_794A); PRAGMA user_version = 6; CREATE TABLE relay_events (x)",
                "earlier program"
            ),
        ] {
            let state = try TestFolder()
            let made = try await RunningProgram.run("sqlite3", [state.path + "/journal.sqlite", statement])
            try #require(made.code == 0, "\(made)")
            let outcome = try await RunningProgram.run(
                Programs.service, ["--bus", "unix:path=/nonexistent/bus", "--state-directory", state.path],
                environment: Programs.environment())
            #expect(outcome.code == 65, "\(outcome)")
            #expect(outcome.errors.joined().contains(part), "\(outcome)")
        }
    }

    @Test(
        "a journal whose content was damaged is refused with exit code 65, whatever found it",
        arguments: [
            ("dd if=/dev/urandom of=journal.sqlite bs=4096 seek=2 count=1 conv=notrunc", "is damaged"),
            (
                // sqlite3 of Debian 13 protects the schema otherwise.
                "sqlite3 journal.sqlite '.dbconfig defensive off' 'PRAGMA writable_schema = 1; DELETE FROM sqlite_master'",
                "is damaged"
            ),
            ("sqlite3 journal.sqlite 'ALTER TABLE relay_runs RENAME first TO last'", "relay_runs is defined otherwise"),
            ("sqlite3 journal.sqlite \"UPDATE relay_schemas SET fields = 'nonsense'\"", "nonsense"),
            ("sqlite3 journal.sqlite 'UPDATE relay_interfaces SET events = 7'", "is damaged"),
            (
                "sqlite3 journal.sqlite \"INSERT INTO relay_migrations VALUES ('relocation', 3, 'later', 0)\"",
                "version 3"
            ),
            ("sqlite3 journal.sqlite 'DELETE FROM relay_migrations'", "relocation_ids"),
            ("mv journal.sqlite journal.sqlite-wal", "were parted"),
        ])
    func damagedContent(_ damage: String, _ part: String) async throws {
        let service = try await LiveService.start()
        _ = try await service.orderBox("Kitchen")
        #expect(await service.program.terminate().code == 0)
        let done = try await RunningProgram.run("/bin/sh", ["-ec", "cd \(service.state.path); \(damage)"])
        try #require(done.code == 0, "\(done)")
        let outcome = try await RunningProgram.run(
            Programs.service, ["--bus", "unix:path=/nonexistent/bus", "--state-directory", service.state.path],
            environment: Programs.environment())
        #expect(outcome.code == 65, "\(outcome)")
        #expect(outcome.errors.joined().contains(part), "\(outcome)")
    }

    @Test("a journal that cannot be opened is refused with exit code 73")
    func notAFile() async throws {
        let state = try TestFolder()
        try #require(mkdir(state.path + "/journal.sqlite", 0o700) == 0)
        let outcome = try await RunningProgram.run(
            Programs.service, ["--bus", "unix:path=/nonexistent/bus", "--state-directory", state.path],
            environment: Programs.environment())
        #expect(outcome.code == 73, "\(outcome)")
        #expect(outcome.errors.joined().contains("\(state.path)/journal.sqlite"), "\(outcome)")
    }

    @Test("a directory that its user may not write is refused with exit code 73")
    func unwritable() async throws {
        let folder = try TestFolder()
        try #require(mkdir(folder.path + "/state", 0o555) == 0)
        var (program, arguments) = (
            Programs.service, ["--bus", "unix:path=/nonexistent/bus", "--state-directory", folder.path + "/state"]
        )
        if geteuid() == 0 {
            // Nothing is forbidden to root. The build folder may be closed to others, so another user gets a copy.
            try #require(chmod(folder.path, 0o755) == 0)
            #expect(try await RunningProgram.run("cp", [program, folder.path + "/relay-service"]).code == 0)
            arguments =
                ["--reuid=65534", "--regid=65534", "--clear-groups", folder.path + "/relay-service"] + arguments
            program = "setpriv"
        }
        let outcome = try await RunningProgram.run(program, arguments, environment: Programs.environment())
        #expect(outcome.code == 73, "\(outcome)")
        let state = folder.path + "/state"
        let message =
            "the state directory \(state) cannot be used: Permission denied: \(state) belongs to user "
        let said = outcome.errors.last ?? ""
        #expect(said.contains("error: " + message) && said.contains(" (mode 555): "), "\(outcome)")
        #expect(said.hasSuffix("; or name another with --state-directory DIR"), "\(outcome)")
    }
}
