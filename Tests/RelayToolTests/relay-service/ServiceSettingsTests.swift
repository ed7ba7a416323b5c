import Glibc
import RelayCore
import RelayDaemon
import RelayTestKit
import RelayTool
import TestTraits
import Testing

@testable import relay_service

@Suite("The settings of relay-service", .tags(.g8))
struct ServiceSettingsTests {
    private let root: TestFolder
    private var file: String { root.path + "/some.conf" }

    init() throws { root = try TestFolder() }

    private func parse(_ arguments: String...) throws(ServiceFailure) -> ServiceOptions.Action {
        try ServiceOptions.parse(arguments, folders: [root.path])
    }
    private func failure(_ arguments: String...) -> ServiceFailure? {
        do throws(ServiceFailure) {
            _ = try ServiceOptions.parse(arguments, folders: [root.path])
            return nil
        } catch { return error }
    }

    @Test("each key is the option of its name, by name and by path") func keys() throws {
        try root.write(
            """
            [Service]
            Name=org.example.Figures
            Admit=group:operators
            StateDirectory=/s
            Synchronous=normal
            Domain=relocation,telemetry
            Rate=0.5
            IdleExit=30
            LogLevel=debug

            """, to: "some.conf")
        let expected = ServiceOptions(
            name: "org.example.Figures", stateDirectory: "/s", synchronous: .normal,
            domains: [.relocation, .telemetry],
            rate: 0.5, logLevel: .debug, idleExit: 30, admitted: .sameUser || .group("operators"))
        #expect(try parse("--config", "some.conf") == .run(expected))
        #expect(try parse("--config", file) == .run(expected))
        #expect(
            ServiceOptions.keys.options.map { ConfigurationKeys.key(of: $0) } == [
                "Name", "Admit", "StateDirectory", "Synchronous", "Domain", "Rate", "IdleExit", "LogLevel",
            ])
    }
    @Test("what is typed prevails, and does not add up with settings") func precedence() throws {
        try root.write("[Service]\nDomain=telemetry\nRate=5\nLogLevel=debug\n", to: "some.conf")
        #expect(
            try parse("--config", "some.conf", "--rate", "7")
                == .run(ServiceOptions(domains: [.telemetry], rate: 7, logLevel: .debug)))
        #expect(
            try parse("--config", "some.conf", "--domain", "relocation,telemetry")
                == .run(ServiceOptions(domains: [.relocation, .telemetry], rate: 5, logLevel: .debug)))
    }
    @Test("--check-config prints the files, and what holds of them") func check() throws {
        try root.write("[Service]\nDomain=telemetry\nRate=5\nLogLevel=debug\n", to: "some.conf")
        mkdir(file + ".d", 0o700)
        try root.write("[Service]\n# the usual\nRate=6\nLogLevel=\n", to: "some.conf.d/10-a.conf")
        #expect(
            try parse("--check-config", "--config", "some.conf")
                == .checked(
                    """
                    # \(file)
                    # \(file).d/10-a.conf
                    [Service]
                    Domain=telemetry
                    Rate=6

                    """))
        try root.write("[Service]\n", to: ServiceOptions.standardSettings)
        #expect(
            try parse("--check-config")
                == .checked("# \(root.path)/relay-service.conf\n[Service]\n"),
            "without --config it is the service's own")
    }
    @Test("wrong settings are refused with file and line") func refusals() throws {
        func refused(_ text: String) throws -> String? {
            try root.write("[Service]\n\(text)\n", to: "some.conf")
            let failures = [failure("--config", "some.conf"), failure("--check-config", "--config", file)]
            #expect(failures[0]?.message == failures[1]?.message)
            #expect(failures.allSatisfy { $0?.code == .wrongSettings && $0?.exitCode == 78 })
            return failures[0]?.message
        }
        #expect(
            try refused("Loglevel=debug") == "\(file):2: unknown key 'Loglevel'; did you mean 'LogLevel'?")
        #expect(
            try refused("\nDomain=boxes")
                == "\(file):3: Domain: 'boxes' is no domain; there are relocation, inventory and telemetry")
        #expect(
            try refused("Rate=5")
                == "with the settings of \(file): option '--rate' is for telemetry; give --domain telemetry, too")
        #expect(
            try refused("Name=:1.5")
                == "\(file):2: Name: ':1.5' is no name for a service; one looks like org.eventrelay.Service1")
        #expect(
            failure("--config", "none.conf")?.message
                == "there is no none.conf, and nothing in none.conf.d, in \(root.path)")
        #expect(failure("--config", "none.conf")?.code == .wrongSettings)
        #expect(failure("--config", "none.conf", "--rate", "fast")?.code == .usage)
    }
    @Test("what counts only at a start is named by its key") func later() throws {
        let running = ServiceOptions()
        #expect(ServiceOptions(rate: 7, logLevel: .debug).changesAtNextStart(from: running) == [])
        #expect(
            ServiceOptions(
                name: "a.b", stateDirectory: "/s", synchronous: .normal, domains: [.telemetry], idleExit: 3
            ).changesAtNextStart(from: running) == ["Name", "StateDirectory", "Synchronous", "Domain", "IdleExit"])
    }
}
