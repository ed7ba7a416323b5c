import RelayTool
import TestTraits
import Testing

@testable import relay_cli

@Suite("The command line", .tags(.g8))
struct ProgramTests {
    @Test("options may stand before and after the command")
    func optionsAnywhere() throws {
        let options = GlobalOptions(
            bus: .system, service: "a.b", json: true, allowsColor: false, timeout: .milliseconds(1_500))
        let watch = Watch(events: ["One", "Two"], count: 3, duration: .seconds(4), waitsForService: false)
        for line in [
            "--system --service a.b --json --no-color --timeout 1.5 watch One Two --count 3 --for 4 --no-wait",
            "watch --count=3 One --for=4 --no-wait --system Two --service=a.b --json --no-color --timeout=1.5",
        ] {
            #expect(try Line.options(line) == options)
            #expect(try Line.verb(line) == watch)
        }
    }

    @Test("POSIXLY_CORRECT or not, an option behind an operand is an option; behind -- it is none")
    func doubleDash() throws {
        #expect(try Line.options("watch One --json") == GlobalOptions(json: true))
        #expect(try Line.verb("watch One --json") == Watch(events: ["One"]))
        #expect(try Line.verb("watch -- --json") == Watch(events: ["--json"]))
        #expect(
            try Line.verb("call Do -- a=--json")
                == Call(command: "Do", arguments: [.init(key: "a", value: "--json")]))
    }

    @Test("without options, the defaults hold")
    func defaults() throws {
        let options = try Line.options("watch")
        #expect(options.bus == nil)
        #expect(options.service == "org.eventrelay.Service1")
        #expect(options.timeout == .seconds(25))
        #expect(!options.json && options.allowsColor)
        #expect(
            try Line.verb("watch")
                == Watch(events: [], start: .now, count: nil, duration: nil, waitsForService: true, sample: nil))
    }

    @Test("call takes key=value; the value may hold anything, '=' and nothing included")
    func callArguments() throws {
        let expected = Call(
            command: "Do",
            arguments: [
                .init(key: "a", value: "1"), .init(key: "b", value: ""), .init(key: "c", value: "=x=y"),
                .init(key: "d", value: "- -"),
            ])
        #expect(try Line.verb(["call", "Do", "a=1", "b=", "c==x=y", "d=- -"]) == expected)
    }

    @Test("unambiguous abbreviations are taken, as getopt_long does")
    func abbreviations() throws {
        #expect(try Line.options("--sess list").bus == .session)
        #expect(Line.refusal(["list", "--ser"])?.message.contains("--service' needs an argument") == true)
        #expect(
            Line.refusal(["--se", "list"])?.message == "option '--se' could be --session or --service; write it out")
    }

    private enum Answer: Equatable {
        case help(String?)
        case version, other
    }
    private func answer(_ line: String) throws -> Answer {
        switch try Program.parse(Line.words(line), at: Samples.time) {
        case .help(let verb): .help(verb?.name)
        case .version: .version
        case .run(let verb as Help, _): .help(verb.topic)
        case .run: .other
        }
    }

    @Test("--help is for the command that it stands with; help takes one too")
    func help() throws {
        for line in ["--help", "-h", "help", "help help", "--help help"] {
            #expect(try answer(line) == .help(nil), "\(line)")
        }
        for line in ["watch --help", "--help watch", "help watch", "watch One -h", "watch --count 0 --help"] {
            #expect(try answer(line) == .help("watch"), "\(line)")
        }
        #expect(try answer("--version") == .version)
        #expect(try answer("list") == .other)
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
            (["list", "--count", "3"], "'--count' belongs to 'watch', 'tail' and 'monitor', not to 'list'"),
            (["watch", "--all"], "'--all' belongs to 'list'"),
            (["list", "Extra"], "'list' takes no operand: 'Extra'"),
            (["help", "watch", "list"], "'list'"),
            (["help", "wotch"], "'wotch'; did you mean 'watch'?"),
            (["call"], "'call' needs a command's name"),
            (["call", "Do", "capacity"], "'capacity' is not of the form key=value"),
            (["call", "Do", "=1"], "'=1' is not of the form"),
            (["call", "Do", "a=1", "a=2"], "'a' is given twice: 'a=2'"),
            (["watch", ""], "'' is no event's name; 'list' shows them"),
            (["call", ""], "'' is no command's name; 'list' shows them"),
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
        let failure = try #require(Line.refusal(arguments))
        #expect(failure.code == .usage)
        #expect(failure.message.contains(message), "\(failure.message)")
    }

    @Test("the same bus twice is one choice; a unique name is a service too")
    func sameBusTwice() throws {
        #expect(try Line.options("--session list --session").bus == .session)
        #expect(try Line.options("--service :1.42 list").service == ":1.42")
        #expect(
            try Line.options("--bus unix:path=/a;tcp:host=b,port=1 list").bus
                == .address("unix:path=/a;tcp:host=b,port=1"))
    }

    @Test("parsing from many threads at once does not mix command lines up")
    func parallel() async {
        await withTaskGroup(of: Bool.self) { group in
            for number in 1...200 {
                group.addTask {
                    let arguments = ["watch", "E\(number)", "--count", "\(number)", "--for=\(number)"]
                    let wanted = Watch(events: ["E\(number)"], count: UInt64(number), duration: .seconds(number))
                    return (try? Line.verb(arguments)) == wanted
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }
}
