import RelayCore
import RelayTool
import Testing

@testable import relay_cli

@Suite("status")
struct StatusTests {
    /// Events from 09:15:05 on, four hours before it is asked.
    private func page(
        _ journal: FakeJournal, width: Int? = nil, programs: [String: String] = [:]
    ) async throws -> String {
        let run = try await HistoryRun.run(["status"], journal, columns: width, programs: programs)
        #expect(run.code == .ok && run.notes.isEmpty, "\(run)")
        return run.output
    }

    @Test("is a page: who lags, ages, units") func people() async throws {
        #expect(
            try await page(try FakeJournal.sample(40), programs: [":1.8": "shop-window"]) == """
                org.eventrelay.Service1
                3 subscribers, 1 behind: :1.8 (shop-window) the most, by 12 events.

                org.eventrelay.Relocation1, durable
                  last event    #40, 4 h ago
                  kept          38 events, 1.2 KiB; the oldest is #3 of 4 h ago
                  journal file  9 MiB, of which 1 MiB are its log; checked in full
                  disk          3 GiB free
                  ring          4 MiB; 2 subscribers read it
                  signals       sent
                  run           18364758544493064720
                  subscribers   3
                    :1.8 (shop-window)  ring; 12 events behind; Ping
                    :1.7                ring; up to date; all events
                    :1.9                signal; does not tell what it has; all events

                """)
    }
    @Test("names the version of the service, and its own where that is another") func versions() async throws {
        let journal = try FakeJournal.sample(3)
        for (version, line) in [
            (Version.current, "org.eventrelay.Service1, built with Relay \(Version.current)"),
            ("9.0.0", "org.eventrelay.Service1, built with Relay 9.0.0; this relay-cli is \(Version.current)"),
        ] {
            journal.change { $0.version = version }
            #expect(try await page(journal).hasPrefix(line + "\n"))
        }
    }
    @Test("only subscribers that read the ring count as its readers, not everyone who has opened it") func ring() {
        func readers(_ transports: [String], isOpen: Bool = true, others: Int = 0) -> String {
            var status = ServiceStatus()
            status.ringIsOpen = isOpen
            status.subscribers = StatusSubscribers(
                transports.map { StatusSubscriber(peer: ":1.7", names: ["*"], transport: $0, sequence: 0) })
            status.subscribers.count += others
            return status.ringReaders
        }
        #expect(readers([], isOpen: false) == "nobody has asked for it")
        #expect(readers([]) == "nobody reads it now" && readers(["signal"]) == "nobody reads it now")
        #expect(readers(["ring", "signal"]) == "1 subscriber reads it")
        #expect(readers(["ring", "ring"]) == "2 subscribers read it")
        #expect(readers(["ring", "ring"], others: 7) == "at least 2 subscribers read it")
    }
    @Test("peers without a place at the ring stand beside those that read it") func places() async throws {
        let journal = try FakeJournal.sample(40)
        for (lacking, words) in [
            (0, ""), (1, "; 1 peer has no place at it: signals"),
            (936, "; 936 peers have no place at it: signals"),
        ] as [(UInt64, String)] {
            journal.change { $0.ringLacking = lacking }
            #expect(try await page(journal).contains("ring          4 MiB; 2 subscribers read it\(words)\n"))
        }
    }
    @Test("within 60 columns no line is wider") func narrow() async throws {
        let text = try await page(
            try FakeJournal.sample(40), width: 60, programs: [":1.8": "a-very-long-name-of-a-program"])
        for line in text.split(separator: "\n") { #expect(line.count <= 60, "\(line)") }
        #expect(text.contains("\n    :1.8 (a-very-long-name-of-a-program)\n        ring; 12 events behind; Ping\n"))
    }
    @Test("a volatile interface, and a service that reports nothing") func others() async throws {
        let journal = try FakeJournal.sample(3)
        journal.change {
            $0.durability = "volatile"
            $0.intercept = { call, _ in if call.member == "Status" { throw CLIFailure(.software, "no") } else { nil } }
        }
        #expect(
            try await page(journal) == """
                org.eventrelay.Service1
                Nobody is subscribed.

                org.eventrelay.Relocation1, volatile
                  the service does not report more

                """)
        journal.change { $0.durability = "durable" }
        let failed = try await HistoryRun.run("status", from: journal)
        #expect(failed.code == .software && failed.notes == ["no"] && failed.output.isEmpty)
    }
    @Test("as JSON: what the service reports, and times; a run's number is a text") func json() async throws {
        #expect(
            try await HistoryRun.run("--json", "status", from: try FakeJournal.sample(40)).output
                == #"{"service":"org.eventrelay.Service1","interface":"org.eventrelay.Relocation1","durability":"durable","#
                + #""lastAt":"2026-11-20T09:15:44.000000Z","oldestAt":"2026-11-20T09:15:07.000000Z","status":{"#
                + #""Epoch":"18364758544493064720","Head":40,"Oldest":3,"RingCapacity":4194304,"Events":38,"Bytes":1234,"#
                + #""FileBytes":9437184,"WalBytes":1048576,"FreeBytes":3221225472,"Checked":1,"RingOpen":true,"#
                + #""SignalsPaused":false,"Subscribers":[[":1.7",["*"],"ring",40],[":1.8",["Ping"],"ring",28],"#
                + #"[":1.9",["*"],"signal",0]]}}"# + "\n")
    }
    @Test("quantities have the unit that a person would choose") func quantities() {
        for (value, text) in [
            (0, "0 bytes"), (1, "1 byte"), (1_023, "1023 bytes"), (1_024, "1 KiB"), (1_536, "1.5 KiB"),
            (10_240, "10 KiB"), (1_048_000, "1023 KiB"), (1_048_575, "1 MiB"), (1 << 30, "1 GiB"), (.max, "16 EiB"),
        ] as [(UInt64, String)] {
            #expect(Quantity.bytes(value) == text)
        }
        for (seconds, text) in [
            (0, "less than a second"), (1, "1 s"), (119, "119 s"), (120, "2 min"), (7_199, "119 min"), (7_200, "2 h"),
            (172_799, "47 h"), (172_800, "2 days"),
        ] as [(UInt64, String)] {
            #expect(Quantity.duration(seconds * 1_000_000) == text)
        }
        #expect(Quantity.age(of: 5, now: 4) == "now" && Quantity.count(1, "event") == "1 event")
        #expect(Quantity.count(12_345, "event") == "12,345 events")
    }
}
