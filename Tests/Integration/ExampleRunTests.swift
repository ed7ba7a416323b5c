import Glibc
import RelayTestKit
import TestTraits
import Testing

/// The scripts that show an example, with programs that fail in place of those that they start.
@Suite("An example's script, whose service fails", .heavy, .tags(.g8)) struct ExampleRunTests {
    @Test(
        "it ends with the service's error, as soon as the service has ended",
        arguments: [
            ("notifier", "relay-service", "relay-cli"), ("shop", "shop-service", "shop-cli"),
            ("document-view", "score", nil), ("track-summary", "track-summary", nil),
        ] as [(String, String, String?)])
    func failedService(_ example: String, service: String, other: String?) async throws {
        let folder = try TestFolder()
        func program(_ name: String, _ text: String) throws {
            try folder.write("#!/bin/sh\n" + text, to: name)
            chmod(folder.path + "/" + name, 0o700)
        }
        func run() async throws -> RunningProgram.Outcome {
            try await RunningProgram.run(
                "\(Programs.sources)/../../Examples/\(example)/run", [folder.path], environment: Programs.environment())
        }
        // Nobody answers it.
        if let other { try program(other, "exit 69") }
        let missing = try await run()
        #expect(missing.code == 127, "\(missing)")
        #expect(missing.errors.contains { $0.contains("\(service): No such file or directory") }, "\(missing)")
        try program(service, "echo 'the journal cannot be opened' >&2; exit 73")
        let failed = try await run()
        #expect(failed.code == 73, "\(failed)")
        // Several write there: what the bus says may stand before it in its line.
        for line in [
            "run: the service has ended with exit code 73", "the journal cannot be opened",
            "run: waits for the service to ",
        ] { #expect(failed.errors.contains { $0.contains(line) }, "\(failed)") }
    }
}
