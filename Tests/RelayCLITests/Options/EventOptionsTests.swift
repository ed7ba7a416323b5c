import RelayCore
import RelayTool
import TestTraits
import Testing

@testable import relay_cli

@Suite("Options of watch, history and export that say from where, and how far", .tags(.g8))
struct EventOptionsTests {
    @Test("watch begins now, since a place, or where a name stopped")
    func watchStarts() throws {
        #expect(try Line.verb("watch") == Watch(start: .now))
        #expect(try Line.verb("watch --since 17 A") == Watch(events: ["A"], start: .since(.sequence(17))))
        #expect(try Line.verb("watch --since start") == Watch(start: .since(.oldest)))
        let quarter = Timestamp(microseconds: Samples.time.now.microseconds - 900_000_000)
        #expect(try Line.verb("watch --since 15m") == Watch(start: .since(.time(quarter))))
        #expect(
            try Line.verb("watch --resume ledger_2-A")
                == Watch(start: .resuming(name: "ledger_2-A", folder: nil)))
        #expect(
            try Line.verb("watch --resume a --cursors /x/y")
                == Watch(start: .resuming(name: "a", folder: "/x/y")))
    }

    @Test("history and export take a range; without one, all that is kept")
    func ranges() throws {
        #expect(try Line.verb("history") == History())
        let ten = Timestamp(microseconds: 1_795_168_800_000_000)
        let range = JournalRange(events: ["A", "B"], since: .sequence(3), until: .time(ten), limit: 4)
        #expect(try Line.verb("history A --since 3 B --until 10:00 --limit 4") == History(range: range))
        #expect(try Line.verb("export A B --since=3 --until=10:00 --limit=4") == Export(range: range, format: .json))
        #expect(try Line.verb("export --format csv") == Export(format: .csv))
        #expect(try Line.verb("export --json") == Export(format: .json))
        #expect(try Line.verb("--json export --format json") == Export(format: .json))
        #expect(
            try Line.verb("history --since 5 --until 5")
                == History(range: JournalRange(since: .sequence(5), until: .sequence(5))))
        #expect(try Line.verb("status") == Status())
    }

    @Test(
        "what does not go together, or nowhere, is refused",
        arguments: [
            (
                ["watch", "--since", "1", "--resume", "a"],
                "two beginnings were asked for; give one of --since WHEN and --resume NAME"
            ),
            (
                ["watch", "--cursors", "/x"],
                "option '--cursors' says where '--resume NAME' keeps its place; give that, too"
            ),
            (["watch", "--resume", "a", "--cursors", ""], "option '--cursors': '' is no folder; give the path of one"),
            (["watch", "--until", "5"], "option '--until' belongs to 'history' and 'export', not to 'watch'"),
            (
                ["history", "--count", "5"],
                "option '--count' belongs to 'watch', 'tail' and 'monitor', not to 'history'"
            ),
            (
                ["list", "--since", "5"],
                "option '--since' belongs to 'watch', 'tail', 'history' and 'export', not to 'list'"
            ),
            (["history", "--resume", "a"], "option '--resume' belongs to 'watch', not to 'history'"),
            (["export", "--format", "cvs"], "option '--format': 'cvs' is no format; did you mean 'csv'?"),
            (["export", "--format", "xml"], "option '--format': 'xml' is no format; there are json and csv"),
            (["export", "--format", ""], "option '--format': '' is no format; there are json and csv"),
            (["export", "--format", "CSV"], "option '--format': 'CSV' is no format; did you mean 'csv'?"),
            (
                ["--json", "export", "--format", "csv"],
                "two formats were asked for; give one of --json and --format csv"
            ),
            (["history", "--limit", "0"], "option '--limit': '0' is no number of events from 1 on"),
            (["history", "--limit", "-3"], "option '--limit': '-3' is no number of events from 1 on"),
            (["history", "--since", "9", "--until", "5"], "'--since' is after '--until': nothing lies between them"),
            (
                ["history", "--since", "1m", "--until", "1h"],
                "'--since' is after '--until': nothing lies between them"
            ),
            (["history", "--since"], "option '--since' needs an argument: --since WHEN"),
            (["history", ""], "'' is no event's name; 'list' shows them"),
            (["status", "now"], "'status' takes no operand: 'now'"),
            (["histroy"], "no command 'histroy'; did you mean 'history'?"),
            (
                [],
                "no command; there are watch, tail, top, metrics, history, export, call, get, set, list, "
                    + "contract, status, doctor, monitor, new-service, completion and help (relay-cli --help)"
            ),
        ] as [([String], String)])
    func refusals(arguments: [String], message: String) {
        #expect(Line.refusal(arguments) == CLIFailure(.usage, message))
    }

    @Test(
        "a cursor's name is checked before anything is asked",
        arguments: ["", "a b", "../x", "a.b", "ä", "a\n", String(repeating: "x", count: 65)])
    func cursorNames(name: String) {
        let reason = "is no name: 1 to 64 letters (A to Z), digits, '_' and '-'"
        #expect(
            Line.refusal(["watch", "--resume", name]) == CLIFailure(.usage, "option '--resume': '\(name)' \(reason)"))
        #expect(Line.refusal(["watch", "--resume", String(repeating: "x", count: 64)]) == nil)
    }
}
