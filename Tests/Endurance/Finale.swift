import Glibc
import RelayCore
import RelayTestKit
import Relocation
import TestSupport
import Testing

/// What must hold when everything has come to rest: state, journal, drivers and watchers tell the same story.
struct Finale {
    struct Seen {
        let watcher: Watcher
        let name: String
        /// Whether it was started by `startLive`: it begins later than with the first event.
        var isLive = false
        /// Whether it may show gaps, which are then exact.
        var mayHaveGaps = false
    }
    let site: Site
    /// The program that serves now.
    let service: RunningProgram
    let drivers: [Driver.Memory]
    let watchers: [Seen]

    /// Ends watchers and service. Returns how many events there were.
    @discardableResult
    func check() async throws -> UInt64 {
        let relay = try site.relay(Relocation1.self)
        relay.activate()
        let contents = try await site.contents(relay)
        relay.invalidate()
        let journal = "\(site.stateDirectory)/journal.sqlite"
        let head = try JournalFile(journal).events(of: Relocation1.name).last?.sequence ?? 0
        let isDone = await eventually { watchers.allSatisfy { $0.watcher.position >= head } }
        #expect(isDone, "of \(head): \(watchers.map { ($0.name, $0.watcher.position) })")
        let history = try await site.cli("--json", "history", "--since", "start")
        #expect(history.code == 0, "\(history.errors)")
        for seen in watchers {
            let outcome = await seen.watcher.finish()
            #expect(outcome?.code == 0, "\(seen.name): \(outcome?.errors ?? [])")
        }
        service.signal(SIGTERM)
        let outcome = await service.outcome()
        #expect(outcome.code == 0, "\(outcome)")

        try checkJournal(journal, contents, head)
        var told = WatcherAccount()
        for line in history.output { told.take(line) }
        checkStory(told, contents, head)
        for seen in watchers { try check(seen, told.texts, head) }
        return head
    }

    private func checkJournal(_ path: String, _ contents: Warehouse, _ head: UInt64) throws {
        let file = try JournalFile(path)
        #expect(try file.integrity() == ["ok"])
        #expect(try file.contents() == contents)
        let sequences = try file.events(of: Relocation1.name).map(\.sequence)
        #expect(sequences == Array(1...head), "the journal's sequences have holes")
    }
    private func checkStory(_ told: WatcherAccount, _ contents: Warehouse, _ head: UInt64) {
        #expect(told.fault(from: 1, through: head) == nil, "history")
        #expect(told.gaps.isEmpty, "history")
        let story = Story(told.texts)
        #expect(story.faults.isEmpty, "\(story.faults.prefix(5))")
        #expect(story.replay.contents == contents)
        for driver in drivers {
            let faults = story.faults(of: driver, contents: contents)
            #expect(faults.isEmpty, "\(faults.prefix(5))")
        }
    }
    private func check(_ seen: Seen, _ texts: [UInt64: String], _ head: UInt64) throws {
        let account = seen.watcher.account
        var first: UInt64 = 1
        if seen.isLive {
            let beginning = try #require(seen.watcher.beginning, "\(seen.name) was not started by startLive")
            first = account.first ?? head + 1
            #expect(beginning.contains(first), "\(seen.name) begins with #\(first), not in \(beginning)")
        }
        #expect(account.fault(from: first, through: head) == nil, "\(seen.name):\n\(account.summary)")
        #expect(account.contradiction == nil, "\(seen.name)")
        if !seen.mayHaveGaps { #expect(account.gaps.isEmpty, "\(seen.name): \(account.gaps)") }
        let others = account.texts.filter { texts[$0.key] != $0.value }.sorted { $0.key < $1.key }
        #expect(others.isEmpty, "\(seen.name) shows otherwise than the journal: \(others.prefix(3).map(\.value))")
    }
}
