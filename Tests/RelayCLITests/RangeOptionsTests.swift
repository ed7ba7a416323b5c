import RelayCore
import RelayTool
import TestTraits
import Testing

@testable import relay_cli

@Suite("Options of watch, history and export that say from where, and how far", .tags(.g8))
struct RangeOptionsTests {
    private func action(_ line: String) throws -> Invocation.Action {
        try OptionParser.parse(line.split(separator: " ").map(String.init), at: Samples.time).action
    }
    private func refusal(_ arguments: [String]) -> CLIFailure? {
        do throws(CLIFailure) {
            _ = try OptionParser.parse(arguments, at: Samples.time)
            return nil
        } catch { return error }
    }

    @Test("watch begins now, since a place, or where a name stopped")
    func watchStarts() throws {
        #expect(try action("watch") == .watch(WatchOptions(start: .now)))
        #expect(try action("watch --since 17 A") == .watch(WatchOptions(events: ["A"], start: .since(.sequence(17)))))
        #expect(try action("watch --since start") == .watch(WatchOptions(start: .since(.oldest))))
        let quarter = Timestamp(microseconds: Samples.time.now.microseconds - 900_000_000)
        #expect(try action("watch --since 15m") == .watch(WatchOptions(start: .since(.time(quarter)))))
        #expect(
            try action("watch --resume ledger_2-A")
                == .watch(WatchOptions(start: .resuming(name: "ledger_2-A", folder: nil))))
        #expect(
            try action("watch --resume a --cursors /x/y")
                == .watch(WatchOptions(start: .resuming(name: "a", folder: "/x/y"))))
    }

    @Test("history and export take a range; without one, all that is kept")
    func ranges() throws {
        #expect(try action("history") == .history(HistoryOptions()))
        let ten = Timestamp(microseconds: 1_795_168_800_000_000)
        let range = HistoryOptions(events: ["A", "B"], since: .sequence(3), until: .time(ten), limit: 4)
        #expect(try action("history A --since 3 B --until 10:00 --limit 4") == .history(range))
        #expect(try action("export A B --since=3 --until=10:00 --limit=4") == .export(range, .json))
        #expect(try action("export --format csv") == .export(HistoryOptions(), .csv))
        #expect(try action("export --json") == .export(HistoryOptions(), .json))
        #expect(try action("--json export --format json") == .export(HistoryOptions(), .json))
        #expect(
            try action("history --since 5 --until 5")
                == .history(HistoryOptions(since: .sequence(5), until: .sequence(5))))
        #expect(try action("status") == .status)
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
            (["watch", "--resume", "a", "--cursors", ""], "option '--cursors': '' is no folder"),
            (["watch", "--until", "5"], "option '--until' belongs to 'history' and 'export', not to 'watch'"),
            (["history", "--count", "5"], "option '--count' belongs to 'watch', not to 'history'"),
            (["list", "--since", "5"], "option '--since' belongs to 'watch', 'history' and 'export', not to 'list'"),
            (["history", "--format", "csv"], "option '--format' belongs to 'export', not to 'history'"),
            (["history", "--resume", "a"], "option '--resume' belongs to 'watch', not to 'history'"),
            (["export", "--format", "cvs"], "option '--format': no format 'cvs'; did you mean 'csv'?"),
            (["export", "--format", "xml"], "option '--format': no format 'xml'; there are json and csv"),
            (["export", "--format", ""], "option '--format': no format ''; there are json and csv"),
            (["export", "--format", "CSV"], "option '--format': no format 'CSV'; did you mean 'csv'?"),
            (
                ["--json", "export", "--format", "csv"],
                "two formats were asked for; give one of --json and --format csv"
            ),
            (["history", "--limit", "0"], "option '--limit': '0' is no number of events from 1 on"),
            (["history", "--limit", "-3"], "option '--limit': '-3' is no number of events from 1 on"),
            (["history", "--since", "9", "--until", "5"], "'--since' is behind '--until': nothing lies between them"),
            (
                ["history", "--since", "1m", "--until", "1h"],
                "'--since' is behind '--until': nothing lies between them"
            ),
            (["history", "--since"], "option '--since' needs an argument: --since WHEN"),
            (["history", ""], "an event's name is empty: ''"), (["status", "now"], "'status' takes no operand: 'now'"),
            (["histroy"], "no command 'histroy'; did you mean 'history'?"),
            ([], "no command; there are watch, top, history, export, call, list, status and help (relay-cli --help)"),
        ] as [([String], String)])
    func refusals(arguments: [String], message: String) {
        #expect(refusal(arguments) == CLIFailure(.usage, message))
    }

    @Test(
        "a cursor's name is checked before anything is asked",
        arguments: ["", "a b", "../x", "a.b", "ä", "a\n", String(repeating: "x", count: 65)])
    func cursorNames(name: String) {
        let reason = "is no name: 1 to 64 letters (A to Z), digits, '_' and '-'"
        #expect(refusal(["watch", "--resume", name]) == CLIFailure(.usage, "option '--resume': '\(name)' \(reason)"))
        #expect(refusal(["watch", "--resume", String(repeating: "x", count: 64)]) == nil)
    }
}
