import Glibc
import RelayCore
import RelayTestKit
import TestSupport
import TestTraits
import Testing

/// What can go wrong between a service that keeps its events and those who read them, with real processes.
@Suite("Faults between a durable service and its subscribers", .serialized, .heavy, .tags(.g1, .g2)) struct LedgerTests
{
    private let head = "type='signal',interface='\(Stream1.name)',member='Head'"
    private let events = "type='signal',interface='\(Ledger1.name)'"

    @Test("the last event and its head are lost to a full queue: the watcher finds both out by itself")
    func lostTail() async throws {
        // The bus holds 64 KiB for a receiver, and drops whatever comes while it holds that much.
        try await Site.with(limits: .outgoing(64 << 10)) { site in
            _ = try await site.startFaultyService("--serve", "ledger", "--synchronous", "normal")
            let watcher = Watcher(site)
            try watcher.start()
            try await watcher.program?.line(containing: "watching")
            let relay = try site.relay(Ledger1.self)
            relay.activate()
            let observer = try await Observer.join(site.bus, Ledger1.name, rules: [head])
            watcher.program?.signal(SIGSTOP)
            let text = String(repeating: "x", count: 1_000)
            _ = try await site.ask(relay, Ledger1.Write(count: 100, units: 30, text: text))
            // The service has said its last word for now, and the stopped watcher's queue was full by then.
            #expect(await eventually { observer.seen.last == .head(3_000) })
            #expect(watcher.position < 3_000)
            watcher.program?.signal(SIGCONT)
            #expect(await eventually { watcher.position == 3_000 })
            let account = watcher.account
            #expect(account.fault(from: 1, through: 3_000) == nil)
            #expect(account.gaps.isEmpty)
            observer.leave()
            relay.invalidate()
        }
    }

    @Test(
        "events that several threads commit are emitted in the order of their sequences, and no head is ahead of them")
    func order() async throws {
        try await Site.with { site in
            _ = try await site.startFaultyService("--serve", "ledger")
            let observer = try await Observer.join(site.bus, Ledger1.name, rules: [head, events])
            // A relay's commands run one after the other.
            let relays = try (0..<8).map { _ in try site.relay(Ledger1.self) }
            for relay in relays { relay.activate() }
            let total: UInt64 = 8 * 100 * 3
            try await withThrowingTaskGroup { group in
                for relay in relays {
                    group.addTask {
                        for _ in 0..<100 { _ = try await site.ask(relay, Ledger1.Write(count: 3)) }
                    }
                }
                group.addTask {
                    while !observer.seen.contains(.event(total)) {
                        try observer.attach(Site.service)
                        try await Task.sleep(for: .milliseconds(3))
                    }
                }
                try await group.waitForAll()
            }
            #expect(await eventually { observer.seen.contains(.head(total)) })
            var position: UInt64 = 0
            for seen in observer.seen {
                switch seen {
                case .event(let sequence):
                    #expect(sequence == position + 1)
                    position = sequence
                case .head(let head), .attached(let head), .ended(let head):
                    #expect(head <= position, "a head that is ahead: \(head)")
                }
            }
            #expect(position == total)
            for relay in relays { relay.invalidate() }
            observer.leave()
        }
    }

    @Test("a watcher of one rare event is told of none that was removed after it saw it, also across restarts")
    func rareName() async throws {
        try await Site.with { site in
            let keep = [Ledger1.keepVariable: "200"]
            let (live, resuming, away) = (
                Watcher(site, "Marked"), Watcher(site, "Marked", "--resume", "rare"),
                Watcher(site, "Marked", "--resume", "away")
            )
            let relay = try site.relay(Ledger1.self)
            relay.activate()
            var marks: [UInt64] = []
            for number in 1...4 as ClosedRange<UInt64> {
                let service = try await site.startFaultyService("--serve", "ledger", environment: keep)
                if number == 1 {
                    for watcher in [live, resuming, away] {
                        try watcher.start()
                        try await watcher.program?.line(containing: "watching")
                    }
                } else {
                    await resuming.kill()
                    try resuming.start()
                }
                if number == 4 { try away.start() }
                _ = try await site.ask(relay, Ledger1.Mark(number: Int64(number)))
                marks.append((number - 1) * 1_001 + 1)
                let mark = marks[marks.count - 1]
                #expect(await eventually { live.position == mark && resuming.position == mark })
                #expect(await eventually { away.position == mark || number == 2 || number == 3 })
                if number == 1 { #expect(await away.finish()?.code == 0) }
                // It is killed below: what it has not written it may ask for again, and that is gone by then.
                await expect(site, "rare", at: mark)
                _ = try await site.ask(relay, Ledger1.Write(count: 100, units: 10))
                // It is gone from the journal, before the service ends.
                #expect(
                    try await eventually {
                        let file = try JournalFile("\(site.stateDirectory)/journal.sqlite")
                        return try file.events(of: Ledger1.name).first?.sequence ?? 0 > mark
                    })
                service.signal(SIGKILL)
                _ = await service.outcome()
            }
            for watcher in [live, resuming] {
                #expect(watcher.account.gaps.isEmpty, "\(watcher.account.summary)")
                #expect(watcher.account.contradiction == nil)
                #expect(watcher.account.texts.keys.sorted() == marks)
            }
            // Who was not there is told what is gone, and nothing else.
            #expect(away.account.texts.keys.sorted() == [marks[0], marks[3]])
            #expect(away.account.gaps.count == 1)
            let gap = try #require(away.account.gaps.first)
            #expect(gap.lowerBound > marks[0] && gap.contains(marks[1]) && gap.contains(marks[2]))
            #expect(gap.upperBound < marks[3])
            relay.invalidate()
        }
    }

    private func expect(_ site: Site, _ cursor: String, at sequence: UInt64) async {
        // The fourth word of the interface's line, which is the only one. The checksum follows.
        let isWritten = await eventually {
            let lines = site.cursor(cursor).split(separator: "\n").map { $0.split(separator: " ") }
            return lines.contains { words in words.count == 5 && words[3] == "\(sequence)" }
        }
        let text = site.cursor(cursor)
        #expect(isWritten, "not at #\(sequence): \(text)")
    }

    @Test("two processes cannot resume by one name: the second is refused, and the first goes on")
    func oneCursorOnce() async throws {
        try await Site.with { site in
            _ = try await site.startFaultyService("--serve", "ledger")
            let (first, second) = (Watcher(site, "--resume", "one"), Watcher(site, "--resume", "one"))
            try first.start()
            try await first.program?.line(containing: "watching")
            try second.start()
            let outcome = await second.program?.outcome()
            #expect(outcome?.code == 75, "\(outcome?.description ?? "")")
            #expect(outcome?.errors.joined().contains("'one'") == true, "\(outcome?.errors ?? [])")
            let relay = try site.relay(Ledger1.self)
            relay.activate()
            _ = try await site.ask(relay, Ledger1.Write(count: 5))
            #expect(await eventually { first.position == 5 })
            relay.invalidate()
        }
    }
}
