import RelayCore
import RelayTool
import Testing

@testable import relay_cli

@Suite("--where, --fields and --format")
struct EventViewTests {
    private func note(_ line: String...) async throws -> HistoryRun {
        try await HistoryRun.run(["history"] + line, try .sample(4))
    }

    @Test("history shows the events for which an expression holds; --limit counts these")
    func filtering() async throws {
        let some = try await HistoryRun.run("history", "--where", "boxID > 200 && title ~ '3'", from: .sample(40))
        #expect(some.code == .ok && some.notes.isEmpty)
        #expect(some.sequences == ["23", "31", "32", "34", "35", "37", "38"])
        let first = try await HistoryRun.run(
            "history", "--where", "boxID > 200", "--limit", "2", "--format", "{sequence} {title}", from: .sample(40))
        #expect(first == HistoryRun(code: .ok, output: "22 Box 22\n23 Box 23\n", notes: []), "Pings lack the field")
        let none = try await HistoryRun.run("history", "--where", "capacity > 5", from: .sample(40))
        #expect(none == HistoryRun(code: .ok, output: "", notes: []))
    }

    @Test("fields are shown in the order that was asked for")
    func fields() async throws {
        #expect(
            try await note("--fields", "title,boxID", "--limit", "1").output
                == "2026-11-20 09:15:05.000 #1 BoxProvisioned title=\"Box 1\" boxID=10\n")
        let json = try await note("--json", "--fields", "title,capacity", "--limit", "1")
        #expect(json.output.hasSuffix(#""transport":"journal","fields":{"title":"Box 1","capacity":5}}"# + "\n"))
        #expect(
            try await note("--fields", "note,boxID", "--limit", "3").lines.last == "2026-11-20 09:15:07.000 #3 Ping",
            "an event that has none of them")
    }

    @Test("a template's parts: fields, the stamp, braces, and what is missing")
    func templates() async throws {
        let all = "{{{time}}}\\t{event} {interface} {previous} {epoch} {publishedAt} {transport}|{note}|{capacity}"
        #expect(
            try await note("--format", all, "--limit", "1").output
                == "{09:15:05.000}\tBoxProvisioned org.eventrelay.Relocation1 0 18364758544493064720 "
                + "2026-11-20T09:15:05.000000Z journal||5\n")
    }

    @Test("what is wrong is said with the place, and with code 64")
    func refusals() async throws {
        func refusal(_ line: String...) async throws -> [String] {
            let run = try await HistoryRun.run(["history"] + line, try .sample(4))
            #expect(run.code == .usage && run.output.isEmpty)
            return run.notes
        }
        #expect(
            try await refusal("--where", "capacity = 5") == [
                "option '--where': 'capacity = 5' is no expression: column 10: '=' compares nothing; '==' does",
                "  capacity = 5", "           ^",
            ])
        #expect(
            try await refusal("--where", "sequence > 1 && capacty > 5") == [
                "option '--where', column 17: none of these events has a field 'capacty'; did you mean 'capacity'?",
                "  sequence > 1 && capacty > 5", "                  ^",
            ])
        #expect(
            try await refusal("BoxProvisioned", "--where", "title > 5") == [
                "option '--where', column 9: this is a number, but 'title' is of type string", "  title > 5",
                "          ^",
            ])
        #expect(
            try await refusal("--fields", "boxID,titel") == [
                "option '--fields': none of these events has a field 'titel'; did you mean 'title'?"
            ])
        #expect(
            try await refusal("--fields", "sequence,title") == [
                "option '--fields': 'sequence' is no field, and is not left out of a line; "
                    + "'--format' chooses all that a line has: --format '{sequence} …'"
            ])
        #expect(
            try await refusal("--format", "{sequence} {titel}") == [
                "option '--format', column 13: none of these events has a field 'titel'; did you mean 'title'?",
                "  {sequence} {titel}", "              ^",
            ])
        #expect(
            try await refusal("--format", "{sequence") == [
                "option '--format': '{sequence' is no template: column 1: '{' has no '}'; '{{' stands for a brace",
                "  {sequence", "  ^",
            ])
        #expect(
            try await refusal("--format", "{sequence}", "--fields", "title") == [
                "'--format' names the fields itself: '--fields' does not go with it"
            ])
        #expect(
            try await refusal("--format", "{sequence}", "--json") == [
                #"{"error":{"code":64,"kind":"usage","message":"two forms were asked for; give one of --json and --format"}}"#
            ])
    }

    @Test("watch leaves events out before they are sampled or counted; gaps go to stderr beside a template")
    func watching() throws {
        var watch: Watch = try Line.verb([
            "watch", "--where", "title == 'Attic'", "--count", "1", "--format", "{title}",
        ])
        watch.events = []
        var machine = WatchMachine(
            watch, service: "a.b",
            printer: EventPrinter(style: OutputStyle(), clock: EventClock { _ in 0 }, template: watch.view.template))
        var output = ByteBuffer()
        #expect(machine.start() == [.discover])
        _ = machine.take(discovery: .found(try Samples.catalogue()), now: 0, output: &output)
        let gap = Gap(2...4, epoch: 1, count: 3, reason: .overflow)
        #expect(machine.take(.event(try Samples.boxProvisioned(1)), now: 0, output: &output) == [])
        #expect(
            machine.take(.gap(interface: "org.eventrelay.Relocation1", gap), now: 0, output: &output)
                == [.note("org.eventrelay.Relocation1: \(gap)")])
        #expect(output.text.isEmpty)
        let last = machine.take(.event(try Samples.boxProvisioned(5, title: "Attic")), now: 0, output: &output)
        #expect(last == [.end(nil)])
        #expect(output.text == "Attic\n")
    }
    @Test("a watch whose expression fits no event ends with 64; one whose service has changed goes on, and says so")
    func watchingWhatDoesNotFit() throws {
        let watch: Watch = try Line.verb(["watch", "--where", "colour == 'red'"])
        var machine = WatchMachine(watch, service: "a.b", printer: Samples.printer())
        var output = ByteBuffer()
        _ = machine.start()
        let actions = machine.take(discovery: .found(try Samples.catalogue()), now: 0, output: &output)
        #expect(
            actions == [
                .end(
                    CLIFailure(
                        .usage, "option '--where', column 1: none of these events has a field 'colour'",
                        excerpt: ["  colour == 'red'", "  ^"]))
            ])
    }

    @Test("tail is a watch that begins a quarter of an hour ago, or where it is told")
    func tail() throws {
        let tail: Tail = try Line.verb("tail BoxProvisioned --count 3")
        var expected = Watch(events: ["BoxProvisioned"], count: 3, isTail: true)
        expected.start = .since(.time(Samples.time.now - .seconds(900)))
        #expect(tail.watch == expected)
        let all: Tail = try Line.verb("tail --since start --no-wait --sample 5 --for 2")
        #expect(
            all.watch
                == Watch(
                    start: .since(.oldest), duration: .seconds(2), waitsForService: false, sample: 5, isTail: true))
        #expect(
            Line.refusal(["tail", "--since", "100000d"])
                == CLIFailure(.usage, "option '--since': '100000d' is before 1970"))
    }
}
