import RelayCore
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayJournal

/// Journals in which each call counts how often its command ran.
private final class Answers: Sendable {
    let folder: TestFolder
    private let runs = Mutex<Int64>(0)
    private let reading: Mutex<RetentionClock.Reading>

    init(boot: String = "one", uptime: UInt64 = 0) throws {
        folder = try TestFolder()
        reading = Mutex(.init(boot: boot, uptime: uptime, wall: 0, isSynchronized: false))
    }
    func opened() throws -> EventJournal {
        var faults = JournalFaults()
        faults.clock = { self.reading.withLock { $0 } }
        return try EventJournal(directory: folder.path, faults: faults)
    }
    func clock(boot: String, hours: UInt64) {
        reading.withLock { $0 = .init(boot: boot, uptime: hours * 3_600_000_000, wall: 0, isSynchronized: false) }
    }
    /// The number of the run that answered.
    @discardableResult func call(_ key: String, user: UInt32 = 1, _ journal: EventJournal) async throws -> Int64 {
        let context = CommandContext(peer: Peer(uniqueName: ":1.7", userID: user))
        return try await journal.storage.answer(PlaceOrder(item: "", idempotencyKey: key), from: context) { _ in
            PlaceOrder.Reply(orderID: self.runs.withLock { runs in (runs, runs += 1).0 })
        }.orderID
    }
    /// Whether a call with this key was answered without a run.
    func isKept(_ key: String, user: UInt32 = 1, _ journal: EventJournal) async throws -> Bool {
        let before = runs.withLock { $0 }
        return try await call(key, user: user, journal) < before
    }
}

@Suite("Kept replies", .heavy, .tags(.g3, .g5)) struct KeptReplyTests {
    private func rows(_ sql: String, _ journal: EventJournal) async -> [Int64] {
        let rows = Mutex<[Int64]>([])
        await journal.storage.call { engine in
            var found: [Int64] = []
            try? engine.database.prepare(sql).rows([]) { found.append($0.integer(0)) }
            rows.withLock { $0 = found }
        }
        return rows.withLock { $0 }
    }
    private func contradiction(_ journal: EventJournal) async -> String? {
        let found = Mutex<String?>("not examined")
        await journal.storage.call { engine in
            do {
                let fault = try JournalExamination(database: engine.database).fullContradiction { false }
                found.withLock { $0 = fault }
            } catch { found.withLock { $0 = "\(error)" } }
        }
        return found.withLock { $0 }
    }

    @Test("the bound in bytes holds, from the oldest; the newest stays whatever the bound is") func bound() async throws
    {
        let answers = try Answers()
        let journal = try answers.opened()
        for number in 10..<35 { try await answers.call("\(number)", journal) }
        let one = await rows("SELECT cost FROM relay_replies LIMIT 1", journal)[0]
        #expect(one > KeptReplies.overhead)
        await journal.storage.call { $0.keptReplies.cost = 10 * one }
        try await answers.call("35", journal)
        #expect(await rows("SELECT number FROM relay_replies", journal).count == 10)
        #expect(try await answers.isKept("35", journal))
        #expect(try await answers.isKept("26", journal))
        #expect(try await !answers.isKept("25", journal))
        await journal.storage.call { $0.keptReplies.cost = 0 }
        try await answers.call("last", journal)
        #expect(try await answers.isKept("last", journal))
        #expect(await rows("SELECT number FROM relay_replies", journal).count == 1)
        #expect(await contradiction(journal) == nil)
    }
    @Test("one user's flood forgets nothing of another's") func flood() async throws {
        let answers = try Answers()
        let journal = try answers.opened()
        for number in 210..<215 { try await answers.call("\(number)", user: 1, journal) }
        let one = await rows("SELECT cost FROM relay_replies LIMIT 1", journal)[0]
        await journal.storage.call { $0.keptReplies.cost = 12 * one }
        for number in 100..<200 { try await answers.call("\(number)", user: 2, journal) }
        for number in 210..<215 { #expect(try await answers.isKept("\(number)", user: 1, journal)) }
        #expect(try await answers.isKept("193", user: 2, journal))
        #expect(try await !answers.isKept("192", user: 2, journal))
        // A third gets its share of both.
        for number in 100..<200 { try await answers.call("\(number)", user: .max, journal) }
        let counts = await rows("SELECT count(*) FROM relay_replies GROUP BY user ORDER BY user", journal)
        #expect(counts == [4, 4, 4])
        #expect(await contradiction(journal) == nil)
    }
    /// Against a list that is sorted anew for each step.
    @Test("of many users, always the one with most loses its oldest") func many() async throws {
        struct Kept: Equatable { let key: String, user: UInt32, cost: Int64 }
        let answers = try Answers()
        let journal = try answers.opened()
        let bound: Int64 = 20 * (KeptReplies.overhead + 60)
        await journal.storage.call { $0.keptReplies.cost = bound }
        var (model, seed): ([Kept], UInt64) = ([], 1)
        func random(_ count: UInt64) -> UInt64 {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (seed >> 33) % count
        }
        for step in 0..<TestForm.rounds(300, soak: 3_000) {
            let user = UInt32(min(random(6), random(6)))
            let key = "\(step)" + String(repeating: "k", count: Int(random(200)))
            try await answers.call(key, user: user, journal)
            let cost = await rows("SELECT cost FROM relay_replies ORDER BY number DESC LIMIT 1", journal)[0]
            model.append(Kept(key: key, user: user, cost: cost))
            while model.reduce(0, { $0 + $1.cost }) > bound {
                let costs = Dictionary(grouping: model, by: \.user).mapValues { $0.reduce(0) { $0 + $1.cost } }
                // As SQLite has it: of equal costs the user with the higher number.
                let users = costs.sorted { ($0.value, $0.key) > ($1.value, $1.key) }.map(\.key)
                let place = users.lazy.compactMap { user in model.dropLast().firstIndex { $0.user == user } }.first
                guard let place else { break }
                model.remove(at: place)
            }
            let costs = await rows("SELECT cost FROM relay_replies ORDER BY number", journal)
            try #require(costs == model.map(\.cost), "step \(step)")
        }
        #expect(await contradiction(journal) == nil)
    }
    @Test("ages count over runs without a service, and never from the machine's boot") func ages() async throws {
        let answers = try Answers(boot: "one", uptime: 240 * 3_600_000_000)
        var journal = try answers.opened()
        #expect(try await answers.call("a", journal) == 0)
        answers.clock(boot: "one", hours: 250)
        #expect(try await answers.call("b", journal) == 1)
        journal.close()
        // A restart: 10 hours of a have passed, and what the machine was off for is not certain.
        answers.clock(boot: "two", hours: 0)
        journal = try answers.opened()
        #expect(try await answers.call("c", journal) == 2)
        answers.clock(boot: "two", hours: 13)
        #expect(try await answers.call("d", journal) == 3)
        #expect(try await answers.isKept("a", journal))
        answers.clock(boot: "two", hours: 15)
        #expect(try await answers.call("e", journal) == 4)
        #expect(await rows("SELECT number FROM relay_replies ORDER BY number", journal) == [2, 3, 4, 5])
        #expect(try await answers.isKept("b", journal))
        #expect(try await !answers.isKept("a", journal))
        #expect(await contradiction(journal) == nil)
    }
    @Test("many that are past their age go, more than come, and another user's with them") func expiry() async throws {
        let answers = try Answers()
        let journal = try answers.opened()
        for number in 0..<40 { try await answers.call("\(number)", user: UInt32(number % 3), journal) }
        answers.clock(boot: "one", hours: 25)
        for number in 0..<5 { try await answers.call("new \(number)", user: 9, journal) }
        #expect(await rows("SELECT number FROM relay_replies", journal).count == 5)
        #expect(await rows("SELECT user FROM relay_reply_costs ORDER BY user", journal) == [-1, 9])
        #expect(await contradiction(journal) == nil)
    }
    @Test(
        "counts that are not those of the replies are found",
        arguments: [
            ("UPDATE relay_reply_costs SET cost = cost + 1", "count for", true),
            ("UPDATE relay_reply_costs SET cost = -1 WHERE user = 2", "user 2 count for no number", true),
            ("UPDATE relay_reply_costs SET cost = 'much' WHERE user = 2", "user 2 count for no number", true),
            ("DELETE FROM relay_reply_costs WHERE user = 2", "and those of its users for", true),
            ("UPDATE relay_reply_costs SET cost = cost + 1 WHERE user <> 1", "user 2 count for other", false),
            ("DELETE FROM relay_replies WHERE user = 1", "user 1 count for other", false),
        ])
    func contradictions(sql: String, text: String, isSeenAtOnce: Bool) async throws {
        let answers = try Answers()
        let journal = try answers.opened()
        for user in [1, 2] as [UInt32] { try await answers.call("a", user: user, journal) }
        let found = Mutex<[String?]>([])
        await journal.storage.call { engine in
            try? engine.database.execute(sql)
            let examination = JournalExamination(database: engine.database)
            let faults = [try? examination.contradiction(), try? examination.fullContradiction { false }]
            found.withLock { $0 = faults }
        }
        let faults = found.withLock { $0 }
        try #require(faults.count == 2)
        #expect((faults[0]?.contains(text) == true) == isSeenAtOnce, "\(faults)")
        #expect(faults[1]?.contains(text) == true, "\(faults)")
    }
}
