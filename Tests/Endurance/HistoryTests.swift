import Foundation
import RelayCore
import RelayTestKit
import TestSupport
import TestTraits
import Testing

/// Journals that are not what the relay remembers: restored from a backup, or written by an older version.
@Suite("Journals that differ from what a relay remembers", .serialized, .heavy, .tags(.g2, .g6)) struct HistoryTests {
    /// Runs a service until `body` is done, then kills it.
    private func during(_ site: Site, _ serve: String, _ body: () async throws -> Void) async throws {
        let service = try await site.startFaultyService("--serve", serve)
        try await body()
        service.signal(SIGKILL)
        _ = await service.outcome()
    }

    @Test(
        "a journal restored from an older backup under a live watcher is a gap, then the new events: none counts as seen"
    )
    func restored() async throws {
        try await Site.with { site in
            let relay = try site.relay(Ledger1.self)
            relay.activate()
            let (live, resuming) = (Watcher(site), Watcher(site, "--resume", "restored"))
            let backup = "\(site.folder.path)/backup"
            try await during(site, "ledger") {
                for watcher in [live, resuming] {
                    try watcher.start()
                    try await watcher.program?.line(containing: "watching")
                }
                _ = try await site.ask(relay, Ledger1.Write(first: 1, count: 10))
                #expect(await eventually { live.position == 10 && resuming.position == 10 })
            }
            try FileManager.default.copyItem(atPath: site.stateDirectory, toPath: backup)
            try await during(site, "ledger") {
                _ = try await site.ask(relay, Ledger1.Write(first: 11, count: 10))
                #expect(await eventually { live.position == 20 && resuming.position == 20 })
            }
            // This one sleeps through the restoring.
            #expect(await resuming.finish()?.code == 0)
            try FileManager.default.removeItem(atPath: site.stateDirectory)
            try FileManager.default.moveItem(atPath: backup, toPath: site.stateDirectory)
            try await during(site, "ledger") {
                try resuming.start()
                // Their sequences are those of events that were seen in another history.
                _ = try await site.ask(relay, Ledger1.Write(first: 101, count: 5))
                for watcher in [live, resuming] {
                    let isDone = await eventually { watcher.account.runs.last?.last?.sequence == 15 }
                    #expect(isDone, "\(watcher.account.runs)")
                    let lines = watcher.account.runs.flatMap { $0 }
                    // What may still have come of the lost history has no known end.
                    let expected = (1...20).map(UInt64.init) + [nil] + (11...15).map(UInt64.init)
                    #expect(lines.map(\.sequence) == expected)
                    #expect(watcher.account.gaps == [21...UInt64.max])
                    for line in lines.suffix(5) {
                        guard case .event(let sequence, let text) = line else { continue }
                        #expect(text.contains("\"number\":\(sequence + 90)"), "\(text)")
                    }
                }
            }
            relay.invalidate()
        }
    }

    @Test(
        "a restore that is undone: the backup serves a while, the old journal comes back, and nothing of either is missing or comes twice"
    )
    func undone() async throws {
        try await Site.with { site in
            let relay = try site.relay(Ledger1.self)
            relay.activate()
            let (live, resuming) = (Watcher(site), Watcher(site, "--resume", "undone"))
            let (backup, former) = ("\(site.folder.path)/backup", "\(site.folder.path)/former")
            func write(_ numbers: ClosedRange<Int64>, reaching sequence: UInt64) async throws {
                _ = try await site.ask(relay, Ledger1.Write(first: numbers.lowerBound, count: Int64(numbers.count)))
                for watcher in [live, resuming] {
                    let isDone = await eventually { watcher.account.runs.last?.last?.sequence == sequence }
                    #expect(isDone, "\(watcher.account.summary)")
                }
            }
            try await during(site, "ledger") {
                for watcher in [live, resuming] {
                    try watcher.start()
                    try await watcher.program?.line(containing: "watching")
                }
                try await write(1...10, reaching: 10)
            }
            try FileManager.default.copyItem(atPath: site.stateDirectory, toPath: backup)
            try await during(site, "ledger") { try await write(11...20, reaching: 20) }
            try FileManager.default.moveItem(atPath: site.stateDirectory, toPath: former)
            try FileManager.default.moveItem(atPath: backup, toPath: site.stateDirectory)
            try await during(site, "ledger") { try await write(101...105, reaching: 15) }
            // This one sleeps through the return.
            #expect(await resuming.finish()?.code == 0)
            try FileManager.default.removeItem(atPath: site.stateDirectory)
            try FileManager.default.moveItem(atPath: former, toPath: site.stateDirectory)
            try await during(site, "ledger") {
                try resuming.start()
                try await write(21...25, reaching: 25)
            }
            relay.invalidate()
            for watcher in [live, resuming] {
                // What was delivered of a history above the place where it parts from the next is undone: both have 10 events in common.
                // What else it may have had has no known end.
                let shown = watcher.account.runs.joined().map { line -> Int64? in
                    guard case .event(_, let text) = line else { return nil }
                    return text.firstRange(of: "\"number\":")
                        .flatMap { Int64(text[$0.upperBound...].prefix { $0.isNumber }) }
                }
                let expected: [Int64?] = Array(1...20) + [nil] + Array(101...105) + [nil] + Array(11...25)
                #expect(shown == expected, "\(watcher.account.summary)")
                #expect(watcher.account.gaps == [21...UInt64.max, 16...UInt64.max])
            }
        }
    }

    @Test("rows from before a field was added are a schema mismatch of exactly those, if the field is required")
    func requiredField() async throws {
        try await Site.with { site in
            try await addOldRows(site)
            try await during(site, "ledger") {
                let relay = try site.relay(Ledger1.self)
                let stream = try relay.events(of: Ledger1.Entry.self, from: .beginning)
                relay.activate()
                _ = try await site.ask(relay, Ledger1.Write(first: 6, count: 5, text: "new"))
                var (gaps, events): ([ClosedRange<UInt64>], [Ledger1.Entry]) = ([], [])
                for await delivery in stream {
                    switch delivery {
                    case .gap(let gap):
                        #expect(gap.reason == .schemaMismatch && events.isEmpty, "\(gap)")
                        #expect(gap.detail?.contains("text") == true, "\(gap)")
                        gaps.append(gap.sequences)
                    case .event(let event, _): events.append(event)
                    }
                    if events.count == 5 { break }
                }
                #expect(gaps == [1...5])
                #expect(events == (6...10).map { Ledger1.Entry(number: $0, text: "new") })
                relay.invalidate()
            }
        }
    }

    @Test("rows from before a field was added are read without it, if it is optional") func optionalField() async throws
    {
        try await Site.with { site in
            try await addOldRows(site)
            try await during(site, "kind-ledger") {
                let relay = try site.relay(KindLedger1.self)
                let stream = try relay.events(of: KindLedger1.Entry.self, from: .beginning)
                relay.activate()
                for number in 6...10 as ClosedRange<Int64> {
                    _ = try await site.ask(relay, KindLedger1.Add(number: number))
                }
                var events: [KindLedger1.Entry] = []
                for await delivery in stream {
                    if case .event(let event, _) = delivery {
                        events.append(event)
                    } else {
                        Issue.record("\(delivery)")
                    }
                    if events.count == 10 { break }
                }
                #expect(events == (1...10).map { KindLedger1.Entry(number: $0, text: $0 > 5 ? "new" : nil) })
                relay.invalidate()
            }
        }
    }
    private func addOldRows(_ site: Site) async throws {
        try await during(site, "old-ledger") {
            let relay = try site.relay(OldLedger1.self)
            relay.activate()
            for number in 1...5 as ClosedRange<Int64> { _ = try await site.ask(relay, OldLedger1.Add(number: number)) }
            relay.invalidate()
        }
    }
}
