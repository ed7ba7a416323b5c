import Foundation
import RelayCore
import RelayTool
import Synchronization
import Testing

@testable import relay_cli
import RelayWire

@Suite("export")
struct ExportTests {
    // MARK: Export

    @Test("JSON Lines have the whole stamp, the run as a text, and every line is JSON")
    func exportJSON() async throws {
        let result = try await HistoryRun.run("export", from: try .sample(8))
        #expect(result.lines.count == 8)
        for (index, line) in result.lines.enumerated() {
            let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            #expect(object["epoch"] as? String == "\(FakeJournal.epoch)")
            let sequence = object["sequence"] as? Int
            #expect(sequence == index + 1)
        }
        #expect(
            result.line(1).hasPrefix(
                #"{"event":"BoxProvisioned","interface":"org.eventrelay.Relocation1","epoch":"18"#))
    }

    @Test("CSV of one event has a column for each field, also of older versions")
    func columns() async throws {
        let journal = FakeJournal([
            try FakeJournal.oldBox(1, label: "Attic"), FakeJournal.ping(2),
            try FakeJournal.box(3, title: "a \"b\", c\r\nd"),
            try FakeJournal.box(4, title: ""), try FakeJournal.box(5, title: "Küche"),
        ])
        let result = try await HistoryRun.run("export", "--format", "csv", "BoxProvisioned", from: journal)
        let rows = [
            "sequence,epoch,previous,publishedAt,boxID,capacity,title,label",
            "1,E,0,2026-11-20T09:15:05.000000Z,10,,,Attic",
            "3,E,2,2026-11-20T09:15:07.000000Z,30,5,\"a \"\"b\"\", c\r\nd\",",
            "4,E,3,2026-11-20T09:15:08.000000Z,40,5,\"\",", "5,E,4,2026-11-20T09:15:09.000000Z,50,5,\"Küche\",", "",
        ]
        #expect(result.output == rows.joined(separator: "\r\n").replacing(",E,", with: ",\(FakeJournal.epoch),"))
        #expect(result.code == .ok && result.notes.isEmpty)
    }

    @Test("CSV of any events has their fields as JSON")
    func genericRows() async throws {
        let result = try await HistoryRun.run("export", "--format", "csv", "--until", "3", from: try .sample(8))
        let rows = [
            "event,interface,sequence,epoch,previous,publishedAt,fields",
            "BoxProvisioned,I,1,E,0,2026-11-20T09:15:05.000000Z,{'boxID':10,'capacity':5,'title':'Box 1'}",
            "BoxProvisioned,I,2,E,1,2026-11-20T09:15:06.000000Z,{'boxID':20,'capacity':5,'title':'Box 2'}",
            "Ping,I,3,E,2,2026-11-20T09:15:07.000000Z,{}", "",
        ]
        let expected = rows.joined(separator: "\r\n").replacing(",E,", with: ",\(FakeJournal.epoch),")
            .replacing(",I,", with: ",org.eventrelay.Relocation1,").replacing("'", with: "\"\"")
            .replacing("{", with: "\"{").replacing("}", with: "}\"")
        #expect(result.output == expected)
    }

    @Test(
        "a text that a spreadsheet would run gets an apostrophe, unless --raw; numbers never",
        arguments: [
            ("=1+2", "'=1+2"), ("+1", "'+1"), ("-5", "'-5"), ("@x", "'@x"), ("\t=1", "\"'\t=1\""),
            ("\r=1", "\"'\r=1\""),
            ("=a,\"b\"", "\"'=a,\"\"b\"\"\""), (" =1", " =1"), ("a=1", "a=1"), ("'=1", "'=1"), ("5", "5"), ("", "\"\""),
        ])
    func formulas(text: String, cell: String) async throws {
        let minus = try Samples.body { writer in
            writer.int64(-5)
            writer.int32(-7)
            try writer.string(text)
        }
        var event = try FakeJournal.box(1, title: "")
        event.fields = minus
        let journal = FakeJournal([event])
        let export = ["export", "--format", "csv", "BoxProvisioned"]
        let safe = try await HistoryRun.run(export, journal)
        #expect(safe.output.hasSuffix(",-5,-7,\(cell),\r\n"), "\(safe.output)")
        let raw = try await HistoryRun.run(export + ["--raw"], journal)
        #expect(raw.output.hasSuffix(",-5,-7,\(cell.replacing("'", with: text.hasPrefix("'") ? "'" : "")),\r\n"))
        // As a part of JSON it begins with a brace.
        let all = try await HistoryRun.run(["export", "--format", "csv"], journal)
        #expect(all.output.contains(",\"{"), "\(all.output)")
    }
    @Test("--raw is for CSV")
    func raw() {
        #expect(
            Line.refusal(["export", "--raw"])
                == CLIFailure(
                    .usage, "option '--raw' is for CSV: give --format csv, too; JSON has all texts as they are"))
    }

    @Test("CSV is exact in a file, and harmless on a terminal")
    func terminal() async throws {
        let journal = FakeJournal([try FakeJournal.box(1, title: "\u{1B}[2J\n")])
        let file = try await HistoryRun.run("export", "--format", "csv", "BoxProvisioned", from: journal)
        #expect(file.output.contains("\"\u{1B}[2J\n\""))
        let shown = try await HistoryRun.run(
            "export", "--format", "csv", "BoxProvisioned", from: journal, isTerminal: true)
        #expect(shown.output.contains("\"\\u001b[2J\\u000a\"") && !shown.output.contains("\u{1B}"))
    }

    @Test("fields that have parts are JSON in their cells; what is missing is nothing")
    func parts() async throws {
        let body = try Samples.body { writer in
            let shelves = writer.beginArray(elementAlignment: 8)
            writer.align(8)
            try writer.string("A")
            let height = writer.beginArray(elementAlignment: 8)
            writer.double(1.5)
            try writer.endArray(height)
            try writer.endArray(shelves)
            try writer.endArray(writer.beginArray(elementAlignment: 4))
        }
        var truck = FakeJournal.ping(1)
        (truck.name, truck.schema, truck.fields) = ("TruckLoaded", 4, body)
        let result = try await HistoryRun.run("export", "--format", "csv", "TruckLoaded", from: FakeJournal([truck]))
        #expect(result.lines.last?.hasSuffix(#"Z,"[{""label"":""A"",""height"":1.5}]","#) == true, "\(result)")
    }

    @Test("a reader that has enough ends it quietly, and no more pages are asked for")
    func closedReader() async throws {
        let pipe = TestPipe()
        pipe.closeReading()
        let journal = try FakeJournal.sample(2_000)
        let notes = Notes()
        let code = await HistoryRun.start(["export"], journal, pipe.writing, false, Samples.objects, notes).value
        #expect(code == .ok && notes.lines.withLock { $0 }.isEmpty)
        #expect(journal.reads.count <= 3)
        pipe.closeWriting()
        let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
        defer { close(full) }
        #expect(
            await HistoryRun.start(["history"], journal, full, false, Samples.objects, notes).value == .outputFailed)
    }

    @Test("a service without room is asked again")
    func busy() async throws {
        let journal = try FakeJournal.sample(10)
        journal.change { state in
            let refusals = Atomic<Int>(0)
            state.intercept = { call, _ in
                if call.member == "Read" && refusals.add(1, ordering: .relaxed).newValue % 3 != 0 {
                    throw ServiceBusy(failure: CLIFailure(.software, "no room"))
                }
                return nil
            }
        }
        #expect(try await HistoryRun.run("history", from: journal).sequences == (1...10).map(String.init))
        journal.change {
            $0.intercept = { call, _ in
                if call.member == "Read" { throw ServiceBusy(failure: CLIFailure(.software, "no room")) }
                return nil
            }
        }
        let never = try await HistoryRun.run("history", "--timeout", "0.2", from: journal)
        #expect(never == HistoryRun(code: .software, output: "", notes: ["no room"]))
    }
}
