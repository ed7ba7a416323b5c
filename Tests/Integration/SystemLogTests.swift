import Glibc
import RelayTestKit
import TestTraits
import Testing

@Suite("relay-service's entries in systemd's log", .heavy) struct SystemLogTests {
    private static func mayMount() async throws -> Bool {
        guard geteuid() == 0, access("/lib/systemd/systemd-journald", X_OK) == 0 else { return false }
        return try await RunningProgram.run("unshare", ["--mount", "true"], environment: Programs.environment()).code
            == 0
    }

    @Test(
        "with a journald of its own: fields to filter by, explanations from the catalog, and nothing on stderr",
        .enabled("it takes root, unshare and journald", SystemLogTests.mayMount))
    func journald() async throws {
        let (bus, folder) = (try PrivateBus(), try TestFolder())
        let outcome = try await RunningProgram.run(
            "unshare",
            [
                "--mount", Programs.sources + "/system_log.sh", Programs.service, bus.address, folder.path,
                Programs.sources + "/../../Packaging/catalog",
            ], environment: Programs.environment())
        #expect(outcome.code == 0, "\(outcome)")
        let parts = outcome.output.split(separator: "explained:", maxSplits: 1)
        try #require(parts.count == 2)
        let entries = Array(parts[0])
        func entry(_ text: String) throws -> String { try #require(entries.first { $0.contains(text) }) }
        let ready = try entry("\"MESSAGE\":\"ready: org.eventrelay.Service1")
        #expect(ready.contains("\"MESSAGE_ID\":\"63a3aca591cd4c1d87129bc6287055f6\""))
        #expect(ready.contains("\"PRIORITY\":\"6\""))
        let refusal = try entry("\"RELAY_KIND\":\"LimitsExceeded\"")
        for field in [
            "\"PRIORITY\":\"4\"", "\"RELAY_INTERFACE\":\"org.eventrelay.Relocation1\"", "\"RELAY_PEER\":\":1.",
            "\"RELAY_CODE\":\"LimitsExceeded\"", "\"MESSAGE_ID\":\"2a48b0d59d804771bee9d4f187910091\"",
        ] { #expect(refusal.contains(field), "\(refusal)") }
        _ = try entry("\"MESSAGE\":\"finished, as asked\"")
        let explained = parts[1].joined(separator: "\n")
        #expect(explained.contains("Subject: A peer was refused because of a limit"))
        #expect(explained.contains("The peer :1."), "the catalog fills fields in")
        // Nothing is written twice.
        var status = stat()
        #expect(stat(folder.path + "/stderr", &status) == 0 && status.st_size == 0)
    }
}
