import RelayTool
import TestTraits
import Testing

@testable import relay_cli

@Suite("The command line", .tags(.g8))
struct OptionParserTests {
    private func parse(_ line: String) throws -> Invocation {
        try OptionParser.parse(line.split(separator: " ").map(String.init), at: Samples.time)
    }
    private func refusal(_ arguments: [String]) -> CLIFailure? {
        do throws(CLIFailure) {
            _ = try OptionParser.parse(arguments, at: Samples.time)
            return nil
        } catch { return error }
    }

    @Test("options may stand before and after the command")
    func optionsAnywhere() throws {
        let expected = Invocation(
            options: GlobalOptions(
                bus: .system, service: "a.b", json: true, allowsColor: false, timeout: .milliseconds(1_500)),
            action: .watch(
                WatchOptions(events: ["One", "Two"], count: 3, duration: .seconds(4), waitsForService: false)))
        #expect(
            try parse(
                "--system --service a.b --json --no-color --timeout 1.5 watch One Two --count 3 --for 4 --no-wait")
                == expected)
        #expect(
            try parse(
                "watch --count=3 One --for=4 --no-wait --system Two --service=a.b --json --no-color --timeout=1.5")
                == expected)
    }

    @Test("POSIXLY_CORRECT or not, an option behind an operand is an option; behind -- it is none")
    func doubleDash() throws {
        #expect(
            try parse("watch One --json")
                == Invocation(options: .init(json: true), action: .watch(.init(events: ["One"]))))
        #expect(try parse("watch -- --json").action == .watch(WatchOptions(events: ["--json"])))
        #expect(
            try parse("call Do -- a=--json").action
                == .call(CallOptions(command: "Do", arguments: [.init(key: "a", value: "--json")])))
    }

    @Test("without options, the defaults hold")
    func defaults() throws {
        let invocation = try parse("watch")
        #expect(invocation.options.bus == nil)
        #expect(invocation.options.service == "org.eventrelay.Service1")
        #expect(invocation.options.timeout == .seconds(25))
        #expect(!invocation.options.json && invocation.options.allowsColor)
        #expect(invocation.action == .watch(WatchOptions(events: [], count: nil, duration: nil, waitsForService: true)))
    }

    @Test("call takes key=value; the value may hold anything, '=' and nothing included")
    func callArguments() throws {
        let invocation = try OptionParser.parse(["call", "Do", "a=1", "b=", "c==x=y", "d=- -"], at: Samples.time)
        #expect(
            invocation.action
                == .call(
                    CallOptions(
                        command: "Do",
                        arguments: [
                            .init(key: "a", value: "1"), .init(key: "b", value: ""), .init(key: "c", value: "=x=y"),
                            .init(key: "d", value: "- -"),
                        ])))
    }

    @Test("unambiguous abbreviations are taken, as getopt_long does")
    func abbreviations() throws {
        #expect(try parse("--sess list").options.bus == .session)
        #expect(refusal(["list", "--ser"])?.message.contains("--service' needs an argument") == true)
        #expect(refusal(["--se", "list"])?.message == "option '--se' could be --session or --service")
    }

    @Test("--help is for the command that it stands with; help takes one too")
    func help() throws {
        for line in ["--help", "-h", "help", "help help", "--help help"] {
            #expect(try parse(line).action == .help(nil), "\(line)")
        }
        for line in ["watch --help", "--help watch", "help watch", "watch One -h"] {
            #expect(try parse(line).action == .help(.watch), "\(line)")
        }
        #expect(try parse("--version").action == .version)
    }

    @Test("every help text has every option of its command, and no line is over 100 columns")
    func helpTexts() {
        for command in [nil] + CommandName.allCases.map(Optional.init) {
            let text = HelpText.text(for: command)
            let keys = OptionKey.allCases.filter { key in
                guard let owners = key.commands else { return true }
                return command.map { owners.contains($0) } ?? false
            }
            for key in keys {
                #expect(text.contains("--" + key.name), "\(String(describing: command)): \(key.name)")
            }
            #expect(text.split(separator: "\n").allSatisfy { $0.count <= 100 })
            #expect(text.hasSuffix("\n"))
        }
    }

    @Test(
        "wrong usage is refused with the word that is wrong",
        arguments: [
            ([], "no command"),
            (["wacth"], "'wacth'; did you mean 'watch'?"),
            (["frobnicate"], "no command 'frobnicate'; there are"),
            (["watch", "--cuont", "3"], "'--cuont'; did you mean '--count'?"),
            (["--zzz"], "unknown option '--zzz'"),
            (["watch", "-x"], "unknown option '-x'"),
            (["watch", "-xh"], "unknown option '-x'"),
            (["--json=yes", "list"], "'--json' takes no argument"),
            (["watch", "--count"], "'--count' needs an argument: --count N"),
            (["watch", "--count", "0"], "'--count': '0'"),
            (["watch", "--count", "-1"], "'--count': '-1'"),
            (["watch", "--count", "+1"], "'--count': '+1'"),
            (["watch", "--count", "18446744073709551616"], "'18446744073709551616'"),
            (["watch", "--count", ""], "'--count': ''"),
            (["watch", "--sample", ""], "'--sample': ''"), (["watch", "--sample", "-1"], "'--sample': '-1'"),
            (["watch", "--sample", "1000001"], "'--sample': '1000001'"), (["list", "--sample", "1"], "'watch'"),
            (["watch", "--resume", "a", "--sample", "5"], "'--resume' shows every event"),
            (["watch", "--for", "soon"], "'--for': 'soon'"),
            (["watch", "--for", "0"], "'--for': '0'"),
            (["watch", "--for", "nan"], "'--for': 'nan'"),
            (["watch", "--for", "1e3"], "'--for': '1e3'"),
            (["watch", "--for", "."], "'--for': '.'"),
            (["--timeout", "99999999", "list"], "'--timeout': '99999999'"),
            (["list", "--count", "3"], "'--count' belongs to 'watch', not to 'list'"),
            (["watch", "--all"], "'--all' belongs to 'list'"),
            (["list", "Extra"], "'list' takes no operand: 'Extra'"),
            (["help", "watch", "list"], "'list'"),
            (["help", "wotch"], "'wotch'; did you mean 'watch'?"),
            (["call"], "'call' needs a command's name"),
            (["call", "Do", "capacity"], "'capacity' is not of the form key=value"),
            (["call", "Do", "=1"], "'=1' is not of the form"),
            (["call", "Do", "a=1", "a=2"], "'a' is given twice: 'a=2'"),
            (["watch", ""], "an event's name is empty"),
            (["--session", "--system", "list"], "two buses"),
            (["--bus", "unix:path=/a", "--bus", "unix:path=/b", "list"], "two buses"),
            (["--bus", "", "list"], "'' is no D-Bus address"),
            (["--bus", "/run/bus", "list"], "'/run/bus' is no D-Bus address"),
            (["--bus", "unix:path=/a;", "list"], "is no D-Bus address"),
            (["--service", "nodots", "list"], "'nodots' is no bus name"),
            (["--service", "a.1b", "list"], "'a.1b' is no bus name"),
            (["--service", "", "list"], "'' is no bus name"),
        ] as [([String], String)])
    func refusals(arguments: [String], message: String) throws {
        let failure = try #require(refusal(arguments))
        #expect(failure.code == .usage)
        #expect(failure.message.contains(message), "\(failure.message)")
    }

    @Test("the same bus twice is one choice; a unique name is a service too")
    func sameBusTwice() throws {
        #expect(try parse("--session list --session").options.bus == .session)
        #expect(try parse("--service :1.42 list").options.service == ":1.42")
        #expect(
            try parse("--bus unix:path=/a;tcp:host=b,port=1 list").options.bus
                == .address("unix:path=/a;tcp:host=b,port=1"))
    }

    @Test("parsing from many threads at once does not mix command lines up")
    func parallel() async {
        await withTaskGroup(of: Bool.self) { group in
            for number in 1...200 {
                group.addTask {
                    let arguments = ["watch", "E\(number)", "--count", "\(number)", "--for=\(number)"]
                    let wanted = WatchOptions(
                        events: ["E\(number)"], count: UInt64(number), duration: .seconds(number))
                    return (try? OptionParser.parse(arguments, at: Samples.time).action) == .watch(wanted)
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }
}
