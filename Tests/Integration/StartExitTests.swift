import Foundation
import Glibc
import RelayCore
import RelayTestKit
import TestTraits
import Testing

/// What `relay-service`, and any program in the library's frame, exits with when its journal fails at the start, and
/// whether systemd starts it again.
@Suite("Exit codes of a start whose journal fails", .heavy, .tags(.g6, .g8)) struct StartExitTests {
    enum Program: String, CaseIterable {
        case service = "relay-service"
        case print = "print-service"

        var path: String { Programs.folder + "/" + rawValue }
        func arguments(state: String, bus: String) -> [String] {
            self == .service ? ["--bus", bus, "--state-directory", state] : [state]
        }
        func environment(bus: String, socket: NotifySocket? = nil) -> [String: String] {
            var own = self == .print ? ["DBUS_SESSION_BUS_ADDRESS": bus] : [:]
            own["NOTIFY_SOCKET"] = socket?.path
            return Programs.environment(own)
        }
    }
    /// What is wrong.
    enum Trouble: String, CaseIterable {
        case damaged, foreign, newer, noFile, noRight, full, failing, readOnly, inUse

        /// The code, and what the message contains.
        var expected: (code: Int32, part: String) {
            switch self {
            case .damaged: (65, "journal.sqlite")
            case .foreign: (65, "is damaged")
            case .newer: (65, "newer")
            case .noFile: (73, "journal.sqlite")
            case .noRight: (73, "Permission denied")
            case .full: (74, "largest size that it may have")
            case .failing: (74, "disk I/O error")
            case .readOnly: (74, "Read-only file system")
            case .inUse: (75, "is in use by process")
            }
        }
        /// Nothing but an administrator's hand changes it: to start again is of no use.
        var isLasting: Bool { [.damaged, .foreign, .newer, .noFile, .noRight].contains(self) }
        static let possible = allCases.filter { $0 != .readOnly || StorageLimitTests.mayMount }
    }
    /// The codes after which systemd leaves a unit of the packages alone.
    private func lastingCodes() throws -> Set<Int32> {
        let path = Programs.sources + "/../../Packaging/templates/unit.service.in"
        let key = "RestartPreventExitStatus="
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        #expect(lines.contains("Restart=on-failure"))
        let line = try #require(lines.first { $0.hasPrefix(key) })
        return Set(line.dropFirst(key.count).split(separator: " ").compactMap { Int32($0) })
    }
    private func shell(_ script: String, _ arguments: [String]) async throws {
        let outcome = try await RunningProgram.run("/bin/sh", ["-ec", script, "sh"] + arguments)
        try #require(outcome.code == 0, "\(outcome)")
    }
    /// Runs a program whose journal was used before, and is in this trouble now.
    private func start(_ program: Program, _ trouble: Trouble, _ socket: NotifySocket?) async throws
        -> RunningProgram.Outcome
    {
        let (bus, folder) = (try PrivateBus(), try TestFolder())
        let state = folder.path + "/state"
        let isNew = [.full, .noRight, .readOnly, .failing].contains(trouble)
        try await shell(#"mkdir -m 700 "$1""#, [state])
        func run(_ wrapper: [String] = [], _ variables: [String: String] = [:], _ path: String? = nil) async throws
            -> RunningProgram.Outcome
        {
            let command = wrapper + [path ?? program.path] + program.arguments(state: state, bus: bus.address)
            return try await RunningProgram.run(
                command[0], Array(command.dropFirst()),
                environment: program.environment(bus: bus.address, socket: socket).merging(variables) { $1 })
        }
        if !isNew {
            let used = try RunningProgram(
                program.path, program.arguments(state: state, bus: bus.address),
                environment: program.environment(bus: bus.address))
            let peer = try RunningProgram(
                "dbus-monitor", ["--address", bus.address, "type='signal',member='NameOwnerChanged'"])
            try await peer.line(containing: "NameLost")
            #expect(
                await eventually {
                    let names = try? await RunningProgram.run("busctl", ["--address=\(bus.address)", "list"])
                    return names?.output.contains { $0.hasPrefix("org.e") } == true
                })
            _ = await peer.terminate()
            if trouble == .inUse {
                defer { used.signal(SIGTERM) }
                return try await run()
            }
            #expect(await used.terminate().code == 0)
        }
        switch trouble {
        case .damaged:
            try await shell(
                #"dd if=/dev/urandom of="$1/journal.sqlite" bs=4096 seek=1 count=3 conv=notrunc 2>/dev/null"#, [state])
        case .foreign:
            try await shell(#"rm -f "$1"/journal.*; yes 'no database' | head -c 8000 >"$1/journal.sqlite""#, [state])
        case .newer:
            try await shell(#"sqlite3 "$1/journal.sqlite" 'PRAGMA user_version = 99'"#, [state])
        case .noFile:
            try await shell(#"rm -f "$1"/journal.*; mkdir -m 700 "$1/journal.sqlite""#, [state])
        case .noRight:
            try await shell(
                #"chmod 555 "$1"; chmod 755 "$2"; cp "$3" "$2/program""#, [state, folder.path, program.path])
            // Nothing is forbidden to root.
            let wrapper = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
            return try await run(geteuid() == 0 ? wrapper : [], [:], folder.path + "/program")
        case .full: return try await run(["/bin/bash", "-c", #"trap "" XFSZ; ulimit -f 256; exec "$0" "$@""#])
        case .failing:
            let library = folder.path + "/libsync.so"
            try folder.write(PersistenceTests.failingSync, to: "sync.c")
            try await shell(#"clang -shared -fPIC -o "$1" "$2""#, [library, folder.path + "/sync.c"])
            return try await run([], ["LD_PRELOAD": library, "RELAY_FAILING_SYNC": folder.path])
        case .readOnly:
            let script = #"mount -t tmpfs -o mode=700 none "$0" && mount -o remount,ro "$0" && exec "$@""#
            return try await run(["unshare", "-m", "/bin/sh", "-c", script, state])
        case .inUse: break
        }
        return try await run()
    }

    @Test(
        "the code says whether to start again is of use, and the units of the packages agree",
        arguments: Program.allCases, Trouble.possible)
    func codes(_ program: Program, _ trouble: Trouble) async throws {
        // One that a manager has started waits for the directory.
        let socket = trouble == .inUse ? nil : try NotifySocket()
        let outcome = try await start(program, trouble, socket)
        let (code, part) = trouble.expected
        #expect(outcome.code == code, "\(outcome)")
        #expect(outcome.errors.last?.contains(part) == true, "\(outcome)")
        #expect(try lastingCodes().contains(code) == trouble.isLasting)
        guard let socket else { return }
        let said = try await socket.settledLines()
        #expect(!said.contains("READY=1"), "\(said)")
        // The reason is in the status, which everybody may read. Another user has no way to the test's socket.
        if program == .service, trouble != .noRight {
            #expect(said.contains { $0.hasPrefix("STATUS=") && $0.contains(part) }, "\(said)")
        }
    }
}
