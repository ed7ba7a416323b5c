import RelayTestKit
import TestTraits
import Testing

/// Whether a user could have written `relay-service`: its sources compile as those of another package, which sees what the
/// libraries make public. What the programs share, and the domains, are no libraries: they are compiled as that package's,
/// and see everything.
///
/// `relay-cli` is not looked at: it reads events and commands of types that it does not have, by the wire format's readers
/// and by connections of its own. No user needs those, so they are no public API.
@Suite("What users can write", .heavy) struct PublicAPITests {
    private func sources(_ target: String) async throws -> [String] {
        let found = try await RunningProgram.run(
            "find", ["\(Programs.sources)/../../Sources/\(target)", "-name", "*.swift"])
        try #require(found.code == 0 && !found.output.isEmpty, "\(found)")
        return found.output
    }

    @Test("relay-service needs the public API alone") func service() async throws {
        let made = try TestFolder()
        let options =
            ["ExistentialAny", "MemberImportVisibility", "InternalImportsByDefault"].flatMap {
                ["-enable-upcoming-feature", $0]
            } + ["-I", made.path]
        // In the order in which they need each other.
        for module in ["BusProcess", "RelayTool", "RelayDaemon", "RelocationDomain", "TelemetryDomain"] {
            let outcome = try await Compiler.run(
                options + ["-Xfrontend", "-disable-access-control", "-wmo", "-module-name", module, "-emit-module"]
                    + ["-o", "\(made.path)/\(module).swiftmodule"] + sources(module))
            try #require(outcome.code == 0, "\(module): \(outcome.compilerErrors)")
        }
        let outcome = try await Compiler.run(
            options + ["-module-name", "relay_service", "-typecheck"] + sources("relay-service"))
        #expect(outcome.code == 0, "it uses what no user has: \(outcome.compilerErrors)")
    }
}
