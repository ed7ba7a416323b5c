import RelayTestKit
import TestTraits
import Testing

/// The package that `relay-cli new-service` writes, as far as no build of Relay is needed: `make test-packaging` builds it.
@Suite("The package of a new service", .heavy) struct NewServiceSourcesTests {
    private let place: TestFolder
    private var folder: String { place.path + "/printer" }

    init() async throws {
        place = try TestFolder()
        let made = try await RunningProgram.run(
            Programs.cli,
            [
                "new-service", "--relay", Programs.sources + "/../..", "org.example.PhotoPrinter",
                place.path + "/printer",
            ],
            environment: Programs.environment())
        try #require(made.code == 0, "\(made)")
    }

    @Test("its sources compile, in the order in which they need each other") func sources() async throws {
        for (module, path, isLibrary) in [
            ("PhotoPrinter", "Sources/PhotoPrinter", true), ("PhotoPrinterDomain", "Sources/PhotoPrinterDomain", true),
            ("service", "Sources/example-photo-printer-svc", false),
            ("frontend", "Sources/example-photo-printer-cli", false),
        ] {
            let found = try await RunningProgram.run("find", ["\(folder)/\(path)", "-name", "*.swift"])
            try #require(found.code == 0 && !found.output.isEmpty, "\(found)")
            let made = ["-emit-module", "-o", "\(place.path)/\(module).swiftmodule"]
            let outcome = try await Compiler.run(
                ["-warnings-as-errors", "-I", place.path, "-module-name", module, "-wmo"]
                    + (isLibrary ? made : ["-typecheck"]) + found.output)
            #expect(outcome.code == 0, "\(module): \(outcome.compilerErrors)")
        }
    }
    @Test("its unit is one that systemd takes, and as hardened as it was") func unit() async throws {
        // Its program is not installed here, and neither is its user.
        let unit = place.path + "/example-photo-printer-svc.service"
        let edited = try await RunningProgram.run(
            "sed",
            [
                "s|/usr/libexec/example-photo-printer-svc|/bin/true|; /^User=/s/=.*/=root/; w \(unit)",
                folder + "/packaging/example-photo-printer-svc.service",
            ])
        try #require(edited.code == 0 && edited.output.contains("User=root"), "\(edited)")
        for words in [["verify", "--man=no"], ["security", "--offline=true", "--no-pager", "--threshold=5"]] {
            let outcome = try await RunningProgram.run(
                "systemd-analyze", words + [unit],
                environment: Programs.environment(["HOME": place.path, "XDG_RUNTIME_DIR": place.path]))
            #expect(outcome.code == 0, "\(outcome)")
        }
    }
}
