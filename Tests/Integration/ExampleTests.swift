import Glibc
import RelayTestKit
import TestTraits
import Testing

/// They are built in this package, so that Relay is compiled once.
private let examplesAreBuilt = getenv("RELAY_WITH_EXAMPLES").map { String(cString: $0) } == "1"

/// `Examples`: README's service and front end, killed and started again, and what each example prints.
@Suite("Examples", .serialized, .heavy, .enabled(if: examplesAreBuilt, "RELAY_WITH_EXAMPLES=1 builds them"))
struct ExampleTests {
    /// README's first example on a bus of its own.
    private final class Printer: Sendable {
        static let name = "org.example.Printer"
        static let object = "/org/example/Printing1"
        private let bus: PrivateBus
        private let folder: TestFolder

        init() throws { (bus, folder) = (try PrivateBus(), try TestFolder()) }

        private var environment: [String: String] {
            Programs.environment([
                "DBUS_SESSION_BUS_ADDRESS": bus.address, "HOME": folder.path, "XDG_STATE_HOME": folder.path,
            ])
        }
        private func busctl(_ arguments: [String]) async throws -> RunningProgram.Outcome {
            try await RunningProgram.run("busctl", ["--address=\(bus.address)"] + arguments, environment: environment)
        }
        private func isServed() async throws -> Bool {
            let asked = ["org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameHasOwner"]
            let outcome = try await busctl(["call"] + asked + ["s", Self.name])
            try #require(outcome.code == 0, "\(outcome)")
            return outcome.output == ["b true"]
        }
        func startService() async throws -> RunningProgram {
            let service = try RunningProgram(
                Programs.folder + "/print-service", ["\(folder.path)/service"], environment: environment)
            #expect(try await eventually { try await self.isServed() })
            return service
        }
        /// It writes a line at a time, though into a pipe: its end comes without a warning.
        func startFrontEnd() throws -> RunningProgram {
            try RunningProgram("stdbuf", ["-oL", Programs.folder + "/print-frontend"], environment: environment)
        }
        func kill(_ programs: RunningProgram...) async throws {
            for program in programs {
                program.signal(SIGKILL)
                #expect(await program.outcome().exit == .signal(SIGKILL), "\(program.name)")
            }
            #expect(try await eventually { try await !self.isServed() })
        }
        /// By a tool that is not ours.
        func print(_ title: String, pages: Int) async throws {
            let outcome = try await busctl(
                ["call", Self.name, Self.object, "org.example.Printing1", "PrintJob", "si", title, "\(pages)"])
            #expect(outcome.code == 0, "\(outcome)")
        }
        /// Whether it is noted down that the ledger has the first event.
        func hasNotedFirst() async throws -> Bool {
            // The fourth word of the interface's line is the sequence of the last event that was handled.
            let words = #"^org\.example\.Printing1 ([^ ]+ ){2}1 "#
            return try await RunningProgram.run(
                "grep", ["-qsE", words, "\(folder.path)/relay/cursors/default/\(Self.name)/ledger.cursor"]
            )
            .code == 0
        }
    }
    private func expectLines(_ lines: [String], of program: RunningProgram) async {
        for line in lines {
            #expect(
                await eventually { program.output.contains(line) }, "'\(line)' in \(program.output + program.errors)")
        }
    }

    @Test("README's service and front end understand each other, also after both were killed") func printing()
        async throws
    {
        let printer = try Printer()
        var service = try await printer.startService()
        var frontEnd = try printer.startFrontEnd()
        let first = "printed #1: Invitation, 2 pages"
        await expectLines(["is job 1", first, "too long"], of: frontEnd)
        #expect(try await eventually { try await printer.hasNotedFirst() })
        try await printer.kill(service, frontEnd)
        // Job 2 is printed while nobody keeps the ledger, and job 3 by the front end that comes back.
        service = try await printer.startService()
        try await printer.print("Programme", pages: 4)
        try await printer.kill(service)
        service = try await printer.startService()
        frontEnd = try printer.startFrontEnd()
        await expectLines(
            ["is job 3", "printed #2: Programme, 4 pages", "printed #3: Invitation, 2 pages"], of: frontEnd)
        #expect(!frontEnd.output.contains(first), "the ledger has job 1 twice, though it was noted down")
        try await printer.kill(service, frontEnd)
        let readme = try Programs.text("README.md").split(separator: "\n")
        for line in [first, "is job 1", "too long"] {
            #expect(readme.contains("    \(line)"), "README lacks '\(line)'")
        }
    }
    @Test("docs/TOUR.md shows what the example without a bus prints") func inProcess() async throws {
        let outcome = try await RunningProgram.run(
            Programs.folder + "/in-process", environment: Programs.environment())
        let lines = try Programs.text("docs/TOUR.md").split(separator: "\n", omittingEmptySubsequences: false)
        let start = try #require(lines.firstIndex { $0.hasPrefix("    log: ") })
        let shown = lines[start...].prefix { $0.hasPrefix("    ") }.map { String($0.dropFirst(4)) }
        #expect(outcome.code == 0 && outcome.output == shown, "\(outcome)")
    }
    @Test(
        "each prints what its page shows",
        arguments: ["shop", "canvas", "analytics", "document-view", "track-summary", "notifier", "fleet"])
    func page(_ example: String) async throws {
        let folder = try TestFolder()
        let outcome = try await RunningProgram.run(
            "\(Programs.sources)/../../Examples/\(example)/run", [Programs.folder],
            environment: Programs.environment(["HOME": folder.path, "XDG_STATE_HOME": folder.path]))
        let lines = try Programs.text("Examples/\(example)/README.md").split(
            separator: "\n", omittingEmptySubsequences: false)
        let fences = lines.indices.filter { lines[$0] == "```" }
        try #require(fences.count == 2, "the page shows one block")
        let shown = lines[(fences[0] + 1)..<fences[1]].map(String.init)
        #expect(outcome.code == 0 && outcome.output == shown, "\(outcome)")
    }
}
