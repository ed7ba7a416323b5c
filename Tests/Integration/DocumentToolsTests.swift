import Glibc
import RelayTestKit
import TestTraits
import Testing

/// Documents, as programs see them that know nothing of Relay.
@Suite("Documents and plain D-Bus tools", .heavy, .tags(.g7)) struct DocumentToolsTests {
    private static let object = "/org/eventrelay/Inventory1"
    private static let interface = "org.eventrelay.Inventory1"

    @Test("busctl and gdbus read a document as a property, before and after it is set, and after a restart")
    func read() async throws {
        let service = try await LiveService.start(domain: "inventory")
        func busctl() async throws -> [String] {
            try await service.run(
                "busctl",
                [
                    "--address=\(service.address)", "get-property", LiveService.name, Self.object, Self.interface,
                    "Inventory",
                ]
            ).output
        }
        func gdbus(_ method: String, _ arguments: String...) async throws -> RunningProgram.Outcome {
            try await service.run(
                "gdbus",
                [
                    "call", "--address", service.address, "--dest", LiveService.name, "--object-path", Self.object,
                    "--method", "org.freedesktop.DBus.Properties.\(method)",
                ] + arguments)
        }
        #expect(try await busctl() == ["(a(xiis)b) 0 true"])
        _ = try await service.orderBox("Kitchen", 10)
        #expect(try await busctl() == ["(a(xiis)b) 1 1 10 0 \"Kitchen\" true"])
        #expect(
            try await gdbus("Get", Self.interface, "Inventory").output
                == ["(<([(int64 1, 10, 0, 'Kitchen')], true)>,)"])
        #expect(
            try await gdbus("GetAll", Self.interface).output
                == ["({'Inventory': <([(int64 1, 10, 0, 'Kitchen')], true)>},)"])
        let refused = try await gdbus("Set", Self.interface, "Inventory", "<(@a(xiis) [], true)>")
        #expect(refused.errors.joined().contains("org.freedesktop.DBus.Error.PropertyReadOnly"), "\(refused)")
        let introspection = try await service.run(
            "gdbus",
            ["introspect", "--address", service.address, "--dest", LiveService.name, "--object-path", Self.object])
        #expect(introspection.output.contains { $0.contains("readonly (a(xiis)b) Inventory") }, "\(introspection)")
        #expect(await service.program.terminate().code == 0)
        try await service.restart()
        #expect(try await busctl() == ["(a(xiis)b) 1 1 10 0 \"Kitchen\" true"])
        let version = try await service.run(
            "busctl",
            [
                "--address=\(service.address)", "call", LiveService.name, Self.object, "org.eventrelay.Stream1",
                "GetDocument", "s", "Inventory",
            ])
        let answer = version.output.joined()
        #expect(
            answer.hasPrefix("ttuv ") && answer.hasSuffix(" (a(xiis)b) 1 1 10 0 \"Kitchen\" true"), "\(version)")
    }
    @Test(
        "relay-cli watch shows the state of a journal that was restored from a backup, and says from where on it parts")
    func restored() async throws {
        let service = try await LiveService.start(domain: "inventory")
        _ = try await service.orderBox("Kitchen")
        let backup = "\(service.state.path)/backup.sqlite"
        let made = try await service.run(
            Programs.service, ["backup", backup, "--state-directory", service.state.path])
        #expect(made.code == 0, "\(made)")
        let watch = try service.cli("--json", "watch", "Inventory")
        try await watch.line(containing: "\"transport\":\"state\"")
        _ = try await service.orderBox("Hall")
        try await watch.line(containing: "Hall")
        #expect(await service.program.terminate().code == 0)
        let journal = "\(service.state.path)/journal.sqlite"
        for suffix in ["-wal", "-shm"] { unlink(journal + suffix) }
        #expect(rename(backup, journal) == 0)
        try await service.restart()
        // The box that the backup lacks is gone, though no event says so.
        func states() -> [String] { watch.output.filter { $0.contains("\"transport\":\"state\"") } }
        #expect(await eventually { states().count == 2 }, "\(watch.output)")
        #expect(states().allSatisfy { $0.contains("Kitchen") && !$0.contains("Hall") }, "\(watch.output)")
        let gap = watch.output.first { $0.hasPrefix("{\"gap\"") } ?? ""
        #expect(gap.contains("\"first\":3,\"last\":null"), "\(watch.output)")
        #expect(gap.contains("\"reason\":\"historyReplaced\",\"commonThrough\":1}"), "\(watch.output)")
        _ = try await service.orderBox("Attic")
        try await watch.line(containing: "Attic")
        watch.signal(SIGINT)
        #expect(await watch.outcome().code == 0)
    }
    @Test("gdbus monitor and a GDBusProxy follow a document") func follow() async throws {
        let service = try await LiveService.start(domain: "inventory")
        let monitor = try RunningProgram(
            "gdbus",
            ["monitor", "--address", service.address, "--dest", LiveService.name, "--object-path", Self.object])
        try await monitor.line(containing: "is owned by")
        let proxy = try RunningProgram(
            "/usr/bin/python3",
            [
                Programs.sources + "/property_watcher.py", service.address, LiveService.name, Self.object,
                Self.interface, "Inventory", "2",
            ])
        try await proxy.line(containing: "cached ([], true)")
        _ = try await service.orderBox("Kitchen", 10)
        _ = try await service.orderBox("Hall", 5)
        let state = "([(1, 10, 0, 'Kitchen'), (2, 5, 0, 'Hall')], true)"
        try await proxy.line(containing: "changed \(state) \(state)")
        #expect(await proxy.outcome().code == 0)
        try await monitor.line(
            containing:
                "PropertiesChanged ('\(Self.interface)', {'Inventory': <([(int64 1, 10, 0, 'Kitchen')], true)>}, @as [])"
        )
        _ = await monitor.terminate()
    }
}
