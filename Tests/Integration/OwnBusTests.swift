import BusProcess
import Glibc
import RelayCore
import RelayTestKit
import TestTraits
import Testing

/// `relay-service --own-bus`: for machines without a bus.
@Suite("relay-service --own-bus", .heavy) struct OwnBusTests {
    /// A user's folders: that of the bus, and that of the state.
    private struct Folder {
        private let folder: TestFolder
        init() throws { folder = try TestFolder() }
        var path: String { folder.path }
        var socket: String { path + "/eventrelay/bus" }
        var environment: [String: String] {
            Programs.environment(["XDG_RUNTIME_DIR": path, "XDG_STATE_HOME": path + "/state"])
        }
    }
    private func start(_ environment: [String: String]) async throws -> RunningProgram {
        let service = try RunningProgram(Programs.service, ["--own-bus"], environment: environment)
        try await service.line(containing: "ready")
        return service
    }

    @Test("relay-cli finds the own bus by itself, and the bus ends with the service")
    func isFound() async throws {
        let folder = try Folder()
        let environment = folder.environment
        let service = try await start(environment)
        var status = stat()
        #expect(lstat(folder.path + "/eventrelay", &status) == 0 && status.st_mode & 0o777 == 0o700)
        let call = try await RunningProgram.run(
            Programs.cli, ["call", "OrderBox", "label=Kitchen", "capacity=10"], environment: environment)
        #expect(call.code == 0 && call.output == ["boxID=1"], "\(call)")
        let outcome = await service.terminate()
        #expect(outcome.code == 0, "\(outcome)")
        #expect(!BusDaemon.isAnswering(folder.socket))
    }

    @Test("the own bus ends with a service that is killed, and the next one takes its place")
    func endsWithKilledService() async throws {
        let folder = try Folder()
        let environment = folder.environment
        let service = try await start(environment)
        #expect(BusDaemon.isAnswering(folder.socket))
        let watcher = try RunningProgram(Programs.cli, ["watch", "--count", "1"], environment: environment)
        try await watcher.line(containing: "watching")
        service.signal(SIGKILL)
        #expect(await service.outcome().exit == .signal(SIGKILL))
        #expect(await eventually { !BusDaemon.isAnswering(folder.socket) })

        let next = try await start(environment)
        // The watcher comes back over a new bus, and sees what happens there.
        try await watcher.line(containing: "is back")
        let call = try await RunningProgram.run(
            Programs.cli, ["call", "OrderBox", "label=Attic", "capacity=5"], environment: environment)
        #expect(call.output == ["boxID=1"], "\(call)")
        let seen = await watcher.outcome()
        #expect(seen.code == 0 && seen.output.last?.contains("title=\"Attic\"") ?? false, "\(seen)")
        #expect(await next.terminate().code == 0)
    }

    @Test("a second own bus at the same place is refused, and the first goes on")
    func secondIsRefused() async throws {
        let folder = try Folder()
        let environment = folder.environment
        let first = try await start(environment)
        let second = try await RunningProgram.run(
            Programs.service, ["--own-bus", "--state-directory", folder.path + "/second"], environment: environment)
        #expect(second.code == 75, "\(second)")
        #expect(second.errors.joined().contains(folder.socket), "\(second)")
        let list = try await RunningProgram.run(Programs.cli, ["list"], environment: environment)
        #expect(list.code == 0 && list.output.contains { $0.contains("BoxProvisioned") }, "\(list)")
        #expect(await first.terminate().code == 0)
    }

    @Test("a folder that others can enter is not used")
    func foreignFolderIsRefused() async throws {
        let folder = try Folder()
        #expect(mkdir(folder.path + "/eventrelay", 0o700) == 0)
        #expect(chmod(folder.path + "/eventrelay", 0o777) == 0)
        let environment = folder.environment.merging(["TMPDIR": folder.path + "/none"]) { $1 }
        let service = try await RunningProgram.run(Programs.service, ["--own-bus"], environment: environment)
        #expect(service.code == 69, "\(service)")
        let call = try await RunningProgram.run(Programs.cli, ["list"], environment: environment)
        #expect(call.code == 69 && call.errors.joined().contains("0700"), "\(call)")
    }
}

/// As behind `su`, and in jobs of cron.
@Suite("A session bus that only its socket shows", .heavy) struct SessionSocketTests {
    @Test("both programs find it in XDG_RUNTIME_DIR") func isFound() async throws {
        let (bus, state) = (try PrivateBus(), try TestFolder())
        // An own bus in the folder for temporary files is found first: the tester may have one.
        let environment = Programs.environment([
            "XDG_RUNTIME_DIR": bus.directory, "XDG_STATE_HOME": state.path, "TMPDIR": state.path,
        ])
        let service = try RunningProgram(Programs.service, [], environment: environment)
        try await service.line(containing: "ready: org.eventrelay.Service1 on the session bus")
        let call = try await RunningProgram.run(
            Programs.cli, ["call", "OrderBox", "label=Kitchen", "capacity=10"], environment: environment)
        #expect(call.code == 0 && call.output == ["boxID=1"], "\(call)")
        #expect(await service.terminate().code == 0)
    }
}
