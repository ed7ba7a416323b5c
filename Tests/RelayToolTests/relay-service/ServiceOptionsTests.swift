import RelayCore
import RelayDaemon
import RelayTestKit
import RelayTool
import TestTraits
import Testing

@testable import relay_service

@Suite("The command line of relay-service", .tags(.g8))
struct ServiceOptionsTests {
    private static let command = ServiceOptions.program.command
    private let page = HelpPage.text(of: nil, in: ServiceOptions.program)

    private func refusal(_ arguments: [String]) -> String? {
        do throws(ServiceFailure) {
            _ = try ServiceOptions.parse(arguments)
            return nil
        } catch {
            #expect(error.code == .usage)
            return error.message
        }
    }

    @Test("without options it serves boxes on the session bus, with a journal that is synced")
    func standard() throws {
        let expected = ServiceOptions(
            bus: nil, stateDirectory: nil, synchronous: .full, domains: [.relocation], rate: 10, logLevel: .info)
        #expect(try ServiceOptions.parse([]) == .run(expected))
    }

    @Test("each option says what it says")
    func options() throws {
        let line = [
            "--bus", "unix:path=/a", "--state-directory=/s", "--synchronous", "normal", "--domain",
            "relocation,telemetry", "--rate", "0.5", "--log-level", "debug", "--idle-exit", "30", "--name", "a.b",
        ]
        let expected = ServiceOptions(
            name: "a.b", bus: .address("unix:path=/a"), stateDirectory: "/s", synchronous: .normal,
            domains: [.relocation, .telemetry], rate: 0.5, logLevel: .debug, idleExit: 30)
        #expect(try ServiceOptions.parse(line) == .run(expected))
        for (option, bus) in [
            ("--session", ServiceOptions.BusChoice.session), ("--system", .system), ("--own-bus", .own),
        ] {
            #expect(try ServiceOptions.parse([option, option]) == .run(ServiceOptions(bus: bus)))
        }
    }

    @Test("it admits its own user, on the system bus whom the policy does, and otherwise whom it is told to")
    func admission() throws {
        func requirement(_ arguments: String...) throws -> PeerRequirement? {
            guard case .run(let options) = try ServiceOptions.parse(arguments) else { return nil }
            return options.requirement
        }
        for bus in [[], ["--session"], ["--own-bus"], ["--bus", "unix:path=/run/dbus/system_bus_socket"]] {
            guard case .run(let options) = try ServiceOptions.parse(bus) else { continue }
            #expect(options.requirement == .sameUser, "\(bus)")
        }
        #expect(try requirement("--system") == .anyone)
        #expect(try requirement("--system", "--admit", "user") == .sameUser)
        #expect(try requirement("--admit", "anyone") == .anyone)
        let operators = PeerRequirement.sameUser || .group("operators")
        #expect(try requirement("--admit=group:operators") == operators)
        for text in ["", "group:", "me", "Anyone"] {
            #expect(
                refusal(["--admit", text])
                    == "option '--admit': '\(text)' is nobody; there are user, group:NAME and anyone")
        }
    }

    @Test("--domain replaces what is served without it, and adds up")
    func domains() throws {
        #expect(
            try ServiceOptions.parse(["--domain", "telemetry"]) == .run(ServiceOptions(domains: [.telemetry])))
        #expect(
            try ServiceOptions.parse(["--domain", "telemetry", "--domain", "relocation"])
                == .run(ServiceOptions(domains: [.telemetry, .relocation])))
        #expect(
            try ServiceOptions.parse(["--domain", "inventory"])
                == .run(ServiceOptions(domains: [.relocation, .inventory])), "the inventory is that of the relocation"
        )
    }

    @Test("help and version come before what is wrong with the rest")
    func helpAndVersion() throws {
        #expect(try ServiceOptions.parse(["--rate", "x", "-h"]) == .help)
        #expect(try ServiceOptions.parse(["--version"]) == .version)
        #expect(try ServiceOptions.parse(["--manual", "--config", "nowhere.conf"]) == .manual)
    }

    @Test("its help has each option with what it takes, its examples, which can be typed, and the exit codes in order")
    func help() throws {
        for option in ServiceOptions.program.options {
            #expect(page.contains("  \(option.form) ") || page.contains(", \(option.form) "), "\(option.form)")
            for word in option.argument?.words ?? [] { #expect(page.contains(word), "\(option.form): \(word)") }
        }
        #expect(!Self.command.examples.isEmpty)
        let folder = try TestFolder()
        try folder.write("[Service]\n", to: ServiceOptions.standardSettings)
        for example in Self.command.examples {
            #expect(throws: Never.self) { try ServiceOptions.parse(example.arguments, folders: [folder.path]) }
            #expect(page.contains("\n  \(example.line(of: "relay-service"))\n"))
        }
        let codes = Self.command.exitCodes.map(\.code.rawValue)
        #expect(codes == Set(codes).sorted())
        #expect(page.split(separator: "\n").allSatisfy { $0.count <= 92 && $0.last != " " })
    }

    @Test(
        "wrong usage is refused with the word that is wrong, and what to do",
        arguments: [
            (["extra"], "'relay-service' takes no operand: 'extra'"),
            (["--bogus"], "unknown option '--bogus'; --help lists the options"),
            (["--domian", "telemetry"], "unknown option '--domian'; did you mean '--domain'?"),
            (["--rate"], "option '--rate' needs an argument: --rate N"),
            (["--own-bus=yes"], "option '--own-bus' takes no argument"),
            (
                ["--session", "--own-bus"],
                "two buses are named; give one of --session, --system, --bus ADDRESS and --own-bus"
            ),
            (
                ["--bus", "unix:path=/a", "--bus", "unix:path=/b"],
                "two buses are named; give one of --session, --system, --bus ADDRESS and --own-bus"
            ),
            (
                ["--bus", "nonsense"],
                "option '--bus': 'nonsense' is no D-Bus address; one looks like unix:path=/run/user/1000/bus"
            ),
            (["--state-directory", ""], "option '--state-directory': '' is no folder; give the path of one"),
            (["--synchronous", "of"], "option '--synchronous': 'of' is no mode; there are full and normal"),
            (["--domain", "relocatoin"], "option '--domain': 'relocatoin' is no domain; did you mean 'relocation'?"),
            (
                ["--domain", "telemetry,boxes"],
                "option '--domain': 'telemetry,boxes' has 'boxes', which is no domain; there are relocation, inventory and telemetry"
            ),
            (["--domain", ""], "option '--domain': '' is no domain; there are relocation, inventory and telemetry"),
            (
                ["--domain", "telemetry", "--rate", "1e3"],
                "option '--rate': '1e3' is no number of samples a second between 0.1 and 10000"
            ),
            (["--rate", "5"], "option '--rate' is for telemetry; give --domain telemetry, too"),
            (
                ["--name", ":1.5"],
                "option '--name': ':1.5' is no name for a service; one looks like org.eventrelay.Service1"
            ),
            (["--config", ""], "option '--config': '' is no file; give a name or a path"),
            (["--config", "/etc/"], "option '--config': '/etc/' is no file; give a name or a path"),
            (
                ["--log-level", "loud"],
                "option '--log-level': 'loud' is no level; there are error, warning, info and debug"
            ),
        ] as [([String], String)])
    func refusals(arguments: [String], message: String) { #expect(refusal(arguments) == message) }
}
