import Foundation
import RelayCore
import RelayTool
import Synchronization
import Testing

@testable import relay_cli
import RelayWire

@Suite("history")
struct HistoryTests {
    // MARK: What is printed

    @Test("a beginning that no event has reached is reported with the end, and is no failure") func beyond()
        async throws
    {
        let journal = try FakeJournal.sample(3)
        let end = "the last event of org.eventrelay.Relocation1 is #3"
        for verb in ["history", "export"] {
            let run = try await HistoryRun.run(verb, "--since", "99", from: journal)
            #expect(run == HistoryRun(code: .ok, output: "", notes: ["--since 99 is beyond the end: \(end)"]))
        }
        let next = try await HistoryRun.run("history", "--since", "4", from: journal)
        #expect(next == HistoryRun(code: .ok, output: "", notes: ["--since 4 is beyond the end: \(end)"]))
        let last = try await HistoryRun.run("history", "--since", "3", from: journal)
        #expect(last.code == .ok && last.sequences == ["3"] && last.notes.isEmpty)
        let future = try await HistoryRun.run("history", "--since", "2999-01-01", from: journal)
        #expect(future == HistoryRun(code: .ok, output: "", notes: ["--since is in the future: \(end)"]))
        let empty = try await HistoryRun.run("history", "--since", "2", from: FakeJournal([]))
        let none = "org.eventrelay.Relocation1 has no event yet"
        #expect(empty == HistoryRun(code: .ok, output: "", notes: ["--since 2 is beyond the end: \(none)"]))
    }

    @Test("history prints everything in its order, as watch does, and ends")
    func everything() async throws {
        let result = try await HistoryRun.run("history", from: try .sample(40))
        #expect(result.code == .ok && result.notes.isEmpty)
        #expect(result.sequences == (1...40).map(String.init))
        #expect(result.line(0) == #"2026-11-20 09:15:05.000 #1 BoxProvisioned boxID=10 capacity=5 title="Box 1""#)
        #expect(result.line(2) == "2026-11-20 09:15:07.000 #3 Ping")
        let json = try await HistoryRun.run("history", "--json", "--limit", "1", from: try .sample(40))
        #expect(
            json.output
                == #"{"event":"BoxProvisioned","interface":"org.eventrelay.Relocation1","sequence":1,"previous":0,"#
                + #""publishedAt":"2026-11-20T09:15:05.000000Z","transport":"journal","#
                + #""fields":{"boxID":10,"capacity":5,"title":"Box 1"}}"# + "\n")
    }

    @Test("an empty journal has an empty history")
    func empty() async throws {
        let result = try await HistoryRun.run("history", from: FakeJournal([]))
        #expect(result == HistoryRun(code: .ok, output: "", notes: []))
        #expect(
            try await HistoryRun.run("history", "--since", "1h", from: FakeJournal([]))
                == HistoryRun(code: .ok, output: "", notes: [])
        )
    }

    @Test("named events alone, and their near misses")
    func names() async throws {
        let journal = try FakeJournal.sample(40)
        let result = try await HistoryRun.run("history", "Ping", from: journal)
        #expect(result.sequences == stride(from: 3, through: 39, by: 3).map(String.init))
        #expect(journal.reads.allSatisfy { $0.names == ["Ping"] })
        let unknown = try await HistoryRun.run("history", "Pong", from: journal)
        #expect(unknown.code == .usage && unknown.notes == ["no event 'Pong'; did you mean 'Ping'?"])
    }

    @Test("an event that only the journal remembers can be named")
    func formerEvent() async throws {
        var burnt = FakeJournal.ping(2)
        (burnt.name, burnt.schema, burnt.fields) = ("BoxBurnt", 5, Samples.body { $0.int64(7) })
        let journal = FakeJournal([FakeJournal.ping(1), burnt])
        #expect(
            try await HistoryRun.run("history", "BoxBurnt", from: journal).lines
                == ["2026-11-20 09:15:06.000 #2 BoxBurnt boxID=7"]
        )
    }

    @Test("rows that an older version of an event wrote have the names that it had")
    func oldRows() async throws {
        let journal = FakeJournal([try FakeJournal.oldBox(1, label: "Attic"), try FakeJournal.box(2, title: "Hall")])
        #expect(
            try await HistoryRun.run("history", from: journal).lines == [
                #"2026-11-20 09:15:05.000 #1 BoxProvisioned boxID=10 label="Attic""#,
                #"2026-11-20 09:15:06.000 #2 BoxProvisioned boxID=20 capacity=5 title="Hall""#,
            ])
    }

    // MARK: Ranges

    @Test(
        "--since, --until and --limit, which include what they name",
        arguments: [
            (["--since", "38"], "38 39 40"), (["--since", "40"], "40"), (["--since", "41"], ""),
            (["--since", "99"], ""),
            (["--since", "start", "--limit", "2"], "1 2"), (["--until", "2"], "1 2"), (["--until", "1"], "1"),
            (["--since", "9", "--until", "12"], "9 10 11 12"), (["--since", "9", "--until", "9"], "9"),
            (["--since", "39", "--until", "99"], "39 40"), (["--since", "5", "--limit", "3"], "5 6 7"),
            (["--limit", "1"], "1"), (["--since", "30", "--limit", "99", "--until", "31"], "30 31"),
            (["--since", "2026-11-20T09:15:42Z"], "38 39 40"), (["--since", "2026-11-20T09:15:42.000001Z"], "39 40"),
            (["--since", "2026-11-20T09:15:44Z"], "40"), (["--since", "2026-11-20T09:15:45Z"], ""),
            (["--until", "2026-11-20T09:15:06Z"], "1 2"), (["--until", "2026-11-20T09:15:05.999999Z"], "1"),
            (["--until", "2026-11-20T09:15:04Z"], ""), (["--since", "23:00"], ""), (["--until", "1d"], ""),
            (["--since", "9:15:10", "--until", "9:15:12"], "6 7 8"), (["Ping", "--since", "37"], "39"),
            (["Ping", "--since", "2026-11-20T09:15:38Z"], "36 39"), (["Ping", "--limit", "2"], "3 6"),
            (["Ping", "--until", "8"], "3 6"),
        ] as [([String], String)])
    func ranges(arguments: [String], expected: String) async throws {
        let result = try await HistoryRun.run(["history"] + arguments, try .sample(40))
        // What no event has reached is reported.
        let isBeyond = [["--since", "41"], ["--since", "99"], ["--since", "23:00"]].contains(arguments)
        #expect(result.code == .ok && result.notes.isEmpty != isBeyond, "\(result)")
        #expect(result.sequences.joined(separator: " ") == expected)
    }
    @Test("every time finds its first event, whatever is pruned, asked for, or looked at in one page")
    func everyTime() async throws {
        for (oldest, scanned) in [(UInt64(1), 1), (17, 3), (24, 50)] {
            for names in [[], ["Ping"]] {
                let journal = try FakeJournal.sample(23)
                journal.change { state in (state.oldest, state.scanned) = (oldest, scanned) }
                for second in 4..<30 {
                    let result = try await HistoryRun.run(
                        ["history", "--since", "@\(FakeJournal.start / 1_000_000 - 4 + UInt64(second))"] + names,
                        journal)
                    let expected = (oldest..<max(oldest, 24)).filter {
                        Int($0) + 4 >= second && (names.isEmpty || $0 % 3 == 0)
                    }
                    #expect(result.sequences == expected.map(String.init), "\(oldest) \(scanned) \(names) \(second)")
                    // All that is kept, of whatever name, is of that time: what is gone may be, too.
                    let isAllOfThatTime = (oldest..<max(oldest, 24)).allSatisfy { Int($0) + 4 >= second }
                    #expect(
                        result.notes.isEmpty != (oldest > 1 && isAllOfThatTime),
                        "\(oldest) \(scanned) \(names) \(second)")
                }
            }
        }
    }

    @Test("what the service removed is a gap in its place; before the beginning it is nothing")
    func pruned() async throws {
        let journal = try FakeJournal.sample(20)
        journal.change { $0.oldest = 11 }
        #expect(try await HistoryRun.run("history", from: journal).sequences == (11...20).map(String.init))
        #expect(try await HistoryRun.run("history", "--since", "start", from: journal).sequences.first == "11")
        let gap = try await HistoryRun.run("history", "--since", "4", "--limit", "2", from: journal)
        #expect(gap.sequences == ["4-10", "11", "12"] && gap.notes.isEmpty)
        #expect(gap.line(0).hasSuffix("gap: #4 to #10 of org.eventrelay.Relocation1 missing (7 events, expired)"))
        #expect(try await HistoryRun.run("history", "--since", "4", "--until", "8", from: journal).sequences == ["4-8"])
        let json = try await HistoryRun.run("export", "--since", "10", "--limit", "1", from: journal)
        #expect(
            json.line(0)
                == #"{"gap":{"interface":"org.eventrelay.Relocation1","first":10,"last":10,"count":1,"reason":"expired"}}"#
        )
        #expect(json.notes == ["gap: #10 of org.eventrelay.Relocation1 is no longer kept"])
        let csv = try await HistoryRun.run("export", "--format", "csv", "--since", "4", "--limit", "1", from: journal)
        #expect(csv.lines.count == 2)
        #expect(csv.notes == ["gap: #4 to #10 of org.eventrelay.Relocation1 are no longer kept"])
        let time = try await HistoryRun.run("history", "--since", "9:15", from: journal)
        #expect(time.notes == ["what org.eventrelay.Relocation1 published before #11 is no longer kept"])
    }

    @Test("what is pruned while it reads is a gap in the middle")
    func prunedMeanwhile() async throws {
        let journal = try FakeJournal.sample(30)
        journal.change { state in
            state.intercept = { call, count in
                if call.member == "Read" && count == 2 { journal.state.withLock { $0.oldest = 20 } }
                return nil
            }
        }
        let result = try await HistoryRun.run("history", from: journal)
        var expected = (1...14).map { "\($0)" }
        expected.append("15-19")
        expected += (20...30).map { "\($0)" }
        #expect(result.sequences == expected)
    }

    @Test("what is published while it reads is not waited for")
    func growing() async throws {
        let journal = try FakeJournal.sample(10)
        journal.change { state in
            state.intercept = { call, _ in
                if call.member == "Read" {
                    journal.state.withLock { $0.entries.append(FakeJournal.ping(($0.entries.last?.sequence ?? 0) + 1)) }
                }
                return nil
            }
        }
        #expect(try await HistoryRun.run("history", from: journal).sequences == (1...11).map(String.init))
    }

    // MARK: Several interfaces

    @Test("events of several interfaces are put together by their time; a sequence is of one")
    func several() async throws {
        let other = "org.eventrelay.Other1"
        let objects = Samples.objects.merging([
            "/org/eventrelay": Samples.childrenXML("Relocation1", "Other1"),
            "/org/eventrelay/Other1": Samples.relocationXML.replacing(FakeJournal.interface, with: other),
        ]) { $1 }
        let journal = try FakeJournal.sample(30)
        let second = FakeJournal(
            (1...5).map { (number: UInt64) in
                var ping = FakeJournal.ping(number)
                ping.time = FakeJournal.start + number * 5_500_000
                return ping
            })
        journal.change { state in
            state.intercept = { call, _ in
                call.path == "/org/eventrelay/Other1" ? try second.answer(call) : nil
            }
        }
        let result = try await HistoryRun.run("history", "--json", from: journal, objects: objects)
        struct Line: Decodable { var interface: String, sequence: UInt64, publishedAt: String }
        let lines = try result.lines.map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
        #expect(lines.count == 35)
        #expect(lines.map(\.publishedAt) == lines.map(\.publishedAt).sorted())
        #expect(lines.filter { $0.interface == other }.map(\.sequence) == [1, 2, 3, 4, 5])
        #expect(lines.filter { $0.interface != other }.map(\.sequence) == Array(1...30))
        let refused = try await HistoryRun.run("history", "--since", "3", from: journal, objects: objects)
        #expect(refused.code == .usage)
        #expect(
            refused.notes == [
                "'--since 3' is a sequence of one interface, but these were asked for: org.eventrelay.Other1, "
                    + "org.eventrelay.Relocation1; name events of one, or give a time"
            ])
    }
    @Test("events of one time come by their interfaces' names, at each reading") func equalTimes() async throws {
        let other = "org.eventrelay.Other1"
        let objects = Samples.objects.merging([
            "/org/eventrelay": Samples.childrenXML("Relocation1", "Other1"),
            "/org/eventrelay/Other1": Samples.relocationXML.replacing(FakeJournal.interface, with: other),
        ]) { $1 }
        let journal = try FakeJournal.sample(20)
        let second = FakeJournal((1...20).map { FakeJournal.ping($0) })
        journal.change { state in
            state.intercept = { call, _ in
                call.path == "/org/eventrelay/Other1" ? try second.answer(call) : nil
            }
        }
        let result = try await HistoryRun.run(
            "history", "--format", "{interface} {sequence}", from: journal, objects: objects)
        #expect(
            result.lines == (1...20).flatMap { ["\(other) \($0)", "\(FakeJournal.interface) \($0)"] }, "\(result)")
    }
}
