import Foundation
import RelayCore
import RelayTool
import Synchronization
import TestTraits
import Testing

@testable import relay_cli
import RelayWire

@Suite("What history and export do about refusals, and services that lie", .tags(.g8))
struct HistoryFailureTests {
    // MARK: Refusals

    @Test("what keeps no events says so")
    func volatileInterface() async throws {
        let journal = try FakeJournal.sample(3)
        journal.change { $0.durability = "volatile" }
        let all = try await HistoryRun.run("history", from: journal)
        #expect(all.code == .badValue && all.output.isEmpty)
        #expect(
            all.notes == [
                "org.eventrelay.Service1 keeps no events, so there is no history; 'watch' shows them as they happen"
            ])
        let named = try await HistoryRun.run("export", "Ping", from: journal)
        #expect(named.code == .badValue)
        #expect(
            named.notes == [
                "org.eventrelay.Relocation1 keeps no events, so there is no history of 'Ping'; 'watch' shows it as it happens"
            ])
    }

    @Test("a service that goes away in the middle leaves what came, and 69")
    func goesAway() async throws {
        let journal = try FakeJournal.sample(30)
        journal.change { state in
            state.intercept = { call, count in
                if count == 2 { throw ServiceAbsent(failure: CLIFailure(.unavailable, "it left")) }
                return nil
            }
        }
        let result = try await HistoryRun.run("history", from: journal)
        #expect(result.code == .unavailable && result.sequences == (1...14).map(String.init))
        #expect(result.notes == ["it left; the last event written is #14"])
    }

    // MARK: Liars

    private func page(
        _ page: LogPage, events: [LogPage.Event]? = nil, oldest: UInt64? = nil, through: UInt64? = nil,
        head: UInt64? = nil
    ) -> LogPage {
        LogPage(
            epoch: page.epoch, events: events ?? page.events, oldest: oldest ?? page.oldest,
            through: through ?? page.through, head: head ?? page.head)
    }

    @Test("a service that lies is an error that says how, and no endless reading", arguments: ["history", "export"])
    func liars(command: String) async throws {
        let lies: [(@Sendable (LogPage) -> LogPage, String)] = [
            ({ page($0, events: [], through: 0) }, "without getting on from #0"),
            ({ page($0, events: [], through: 5, head: 4) }, "through #5, which is behind its head #4"),
            ({ page($0, events: $0.events.reversed()) }, "with #6 behind #7"),
            ({ page($0, events: $0.events + $0.events) }, "with #1 behind #7"),
            ({ page($0, through: 3) }, "with #7 in a page through #3"),
        ]
        for (lie, words) in lies {
            let journal = try FakeJournal.sample(30)
            journal.change { $0.forge = lie }
            let result = try await HistoryRun.run(command, from: journal)
            #expect(result.code == .software, "\(words): \(result)")
            #expect(
                result.notes.last?.contains("org.eventrelay.Relocation1 answers Read \(words)") == true, "\(result)")
        }
        let numbers = try FakeJournal.sample(3)
        numbers.change { $0.forge = { page($0, oldest: .max, through: .max, head: .max) } }
        #expect(try await HistoryRun.run(command, from: numbers).code == .ok, "the ends of the numbers do not trap")
        let other = try FakeJournal.sample(30)
        other.change { state in
            state.forge = { page in
                let event = page.events.first.map {
                    LogPage.Event(name: "BoxProvisioned", schema: 2, sequence: $0.sequence, body: $0.body)
                }
                return self.page(page, events: event.map { [$0] } ?? [])
            }
        }
        let unasked = try await HistoryRun.run(command, "Ping", from: other)
        #expect(unasked.code == .software && unasked.output.isEmpty)
    }

    @Test(
        "pages without end that hold next to nothing end in an error that names the service",
        arguments: [
            ["history"], ["export"], ["history", "--where", "boxID == 1"], ["history", "--since", "@1795166104"],
        ])
    func endless(arguments: [String]) async throws {
        let journal = try FakeJournal.sample(1)
        let isEmpty = !arguments.contains("--where")
        journal.change { state in
            state.make = { read in
                let box = try FakeJournal.box(read.after + 1, title: "")
                let event = LogPage.Event(
                    name: box.name, schema: box.schema, sequence: box.sequence, body: FakeJournal.body(box))
                return LogPage(
                    epoch: FakeJournal.epoch, events: isEmpty ? [] : [event], oldest: 1, through: box.sequence,
                    head: UInt64.max - 1)
            }
        }
        let result = try await HistoryRun.run(arguments, journal)
        #expect(result.code == .software && result.output.isEmpty, "\(result)")
        #expect(
            result.notes.last?.hasPrefix(
                "org.eventrelay.Relocation1 of 'org.eventrelay.Service1' answers Read without end: 1000 p") == true,
            "\(result)")
        #expect(journal.reads.count < 3_000)
    }

    @Test("a service that reports another run with each answer is asked a bounded number of times")
    func otherRuns() async throws {
        let epochs = Atomic<UInt64>(0)
        let service = FakeService { call in
            let value = epochs.wrappingAdd(1, ordering: .relaxed).newValue
            return IncomingReply(
                signature: "v",
                body: try Samples.body { writer in
                    writer.signature(try Signature("t"))
                    writer.uint64(value)
                })
        }
        let reader = JournalReader(caller: service, service: "org.example.Liar", timeout: .seconds(5))
        let failure = await #expect(throws: CLIFailure.self) { try await reader.position(of: "a.b") }
        #expect(failure?.message.contains("'org.example.Liar' reports another run") == true)
        #expect(service.calls.count < 100)
    }

    @Test("many pages that hold little are read to their end, if they get there")
    func rareNames() throws {
        var scan = JournalScan("a.b", of: "a.B1", names: ["Rare"], after: nil)
        var through: UInt64 = 0
        while !scan.isDone {
            through = min(through + 65_536, 1 << 30)
            _ = try scan.take(
                StreamPage(epoch: 1, oldest: 1, through: through, head: 1 << 30), sequences: [], size: 100)
        }
        #expect(through == 1 << 30)
        // One by one, as far as a small journal goes.
        var small = JournalScan("a.b", of: "a.B1", names: nil, after: nil)
        for sequence: UInt64 in 1...5_000 {
            _ = try small.take(
                StreamPage(epoch: 1, oldest: 1, through: sequence, head: 5_000), sequences: [sequence],
                size: 100)
        }
        #expect(small.isDone)
    }

    @Test("an answer that is no page, or not whole, is an error that says so")
    func garbage() async throws {
        func said(_ reply: @escaping @Sendable (OutgoingCall) throws -> IncomingReply?) async throws -> (
            ExitCode, String
        ) {
            let journal = try FakeJournal.sample(30)
            journal.change { $0.intercept = { call, _ in try reply(call) } }
            let result = try await HistoryRun.run("export", from: journal)
            return (result.code, result.notes.last ?? "")
        }
        let words = "org.eventrelay.Relocation1 answers"
        #expect(
            try await said { $0.member == "Read" ? IncomingReply(signature: "s", body: []) : nil }
                == (.software, "\(words) Read with 's', not with 'ta(suv)a(tt)ttt'"))
        #expect(
            try await said { $0.member == "Schemas" ? IncomingReply(signature: "a{sv}", body: []) : nil }
                == (.software, "\(words) Schemas with 'a{sv}', not with 'a{u(sas)}'"))
        #expect(
            try await said { $0.member == "Get" ? IncomingReply(signature: "s", body: []) : nil }
                == (.software, "\(words) Get with 's', not with 'v'"))
        for member in ["Read", "Schemas", "Get"] {
            let (code, text) = try await said { call in
                guard call.member == member else { return nil }
                let signature = ["Read": Stream1.pageSignature, "Schemas": Stream1.schemasSignature, "Get": "v"]
                return IncomingReply(signature: signature[member] ?? "", body: [1, 2, 3, 4, 5, 6, 7])
            }
            #expect(code == .software && text.hasPrefix("\(words) \(member) with "), "\(text)")
        }
    }

    @Test("a page with any byte changed, or cut anywhere, ends in output or an error, never in a trap")
    func damage() async throws {
        let journal = try FakeJournal.sample(5)
        let whole = try journal.answer(
            OutgoingCall(
                path: "", interface: "", member: "Read", signature: "",
                body: try Samples.body {
                    try Stream1.write(StreamRead(names: ["*"], after: 0, limit: 0), into: &$0)
                }))
        for index in whole.body.indices {
            for damaged in [whole.body.prefix(index) + [], Self.flipped(whole.body, index)] {
                _ = try? StoredPage(IncomingReply(signature: whole.signature, body: Array(damaged)), of: "a.b")
            }
        }
    }
    private static func flipped(_ bytes: [UInt8], _ index: Int) -> [UInt8] {
        var result = bytes
        result[index] ^= 0x81
        return result
    }

    @Test("an event that is not what its schema says is shown by its signature, and refused in CSV")
    func wrongSchema() async throws {
        let journal = try FakeJournal.sample(2)
        journal.change { state in
            state.intercept = { call, _ in
                guard call.member == "Schemas" else { return nil }
                var schemas = FakeJournal.schemas
                schemas[2] = schemas[1]
                let wrong = schemas
                return IncomingReply(
                    signature: Stream1.schemasSignature, body: try Samples.body { try Stream1.write(wrong, into: &$0) })
            }
        }
        #expect(
            try await HistoryRun.run("history", "--limit", "1", from: journal).lines
                == [#"2026-11-20 09:15:05.000 #1 BoxProvisioned arg0=10 arg1=5 arg2="Box 1""#])
        let csv = try await HistoryRun.run("export", "--format", "csv", from: journal)
        #expect(csv.code == .software)
        #expect(
            csv.notes == [
                "BoxProvisioned #1 came as 'xisttt', which its schema 2 is not; --format json shows it by its signature"
            ])
    }

    @Test("a schema that came later is asked for; CSV whose header lacks its fields says so")
    func laterSchema() async throws {
        func journal() throws -> FakeJournal {
            let entries = [try FakeJournal.oldBox(1, label: "Attic"), try FakeJournal.box(2, title: "Hall")]
            let journal = FakeJournal(entries)
            journal.change { state in
                state.pageSize = 1
                state.intercept = { (call: OutgoingCall, reads: Int) in
                    guard call.member == "Schemas", reads == 0 else { return nil }
                    let old = FakeJournal.schemas.filter { $0.key == 1 }
                    return IncomingReply(
                        signature: Stream1.schemasSignature,
                        body: try Samples.body { try Stream1.write(old, into: &$0) })
                }
            }
            return journal
        }
        #expect(try await HistoryRun.run("history", from: journal()).lines.last?.contains("capacity=5") == true)
        let csv = try await HistoryRun.run("export", "--format", "csv", "BoxProvisioned", from: journal())
        #expect(csv.code == .software && csv.lines.count == 2, "\(csv)")
        #expect(
            csv.notes == [
                "BoxProvisioned has a new field, 'capacity', which the header lacks; begin the export again; "
                    + "the last event written is #1"
            ])
    }
}
