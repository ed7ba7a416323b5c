import TestTraits
import Testing

@testable import RelayCore

@Suite("Replies that their peers confirm", .tags(.g3, .g4)) struct ConfirmedRepliesTests {
    private typealias Limits = UnreadReplies

    /// Sends one that holds a page, or a refusal; returns its serial.
    private func deliver(
        _ limits: inout Limits, _ ledger: PeerLedger, _ resource: PeerResource?, bytes: Int = 0
    ) throws -> UInt32 {
        var serial: UInt32 = 0
        let charge = try resource.map { try ledger.charge($0, to: "a") }
        try limits.deliver(to: "a", charge, bytes: bytes) { serial = $0 }
        return serial
    }

    @Test("a serial proves its reply and all before it, once, and nothing behind it") func serials() throws {
        let ledger = PeerLedger()
        var limits = Limits(ledger)
        _ = limits.call("a")
        limits.sent("a", bytes: 1_000)
        let first = try deliver(&limits, ledger, .pages)
        let second = try deliver(&limits, ledger, .ringReplies)
        limits.sent("a", bytes: 500)
        let third = try deliver(&limits, ledger, .replyDescriptors)
        #expect(limits.serials(of: "a") == [first, second, third] && limits.holds(.pages, "a"))
        let isSecond = limits.received(second, by: "a")
        #expect(isSecond && !limits.holds(.pages, "a") && !limits.holds(.ringReplies, "a"))
        #expect(limits.holds(.replyDescriptors, "a") && ledger.held(.pages) == 0 && ledger.held(.ringReplies) == 0)
        #expect(limits.unread(of: "a") == 500 + 2 * Limits.overhead)
        let (again, other, isThird) = (
            limits.received(first, by: "a"), limits.received(third, by: "b"), limits.received(third, by: "a")
        )
        #expect(!again && !other && isThird && limits.unread(of: "a") == 0)
        limits.depart("a")
        #expect(ledger.isEmpty)
    }
    @Test("there are so many guesses between two replies") func guesses() throws {
        let ledger = PeerLedger()
        var limits = Limits(ledger)
        _ = limits.call("a")
        func guess(_ count: Int) { for _ in 0..<count { _ = limits.received(1, by: "a") } }
        let first = try deliver(&limits, ledger, .pages)
        guess(Limits.guesses - 1)
        let isFirst = limits.received(first, by: "a")
        #expect(isFirst)
        let second = try deliver(&limits, ledger, .pages)
        guess(Limits.guesses)
        let isSecond = limits.received(second, by: "a")
        #expect(!isSecond && ledger.held(.pages) == 1)
        // A refusal is another reply, and proves the page before it.
        let third = try deliver(&limits, ledger, nil)
        let isThird = limits.received(third, by: "a")
        #expect(isThird && ledger.held(.pages) == 0)
    }
    @Test("of refusals the last one is kept, and a page is read one at a time") func refusals() throws {
        let ledger = PeerLedger()
        var limits = Limits(ledger)
        #expect(limits.beginReading("a") != nil, "it has not called, or has left")
        _ = limits.call("a")
        let begun = (limits.beginReading("a"), limits.beginReading("a"))
        #expect(begun.0 == nil && begun.1?.contains("under way") == true)
        limits.endReading("a")
        let page = try deliver(&limits, ledger, .pages)
        for _ in 1...10 { _ = try deliver(&limits, ledger, nil) }
        let refusal = try deliver(&limits, ledger, nil)
        #expect(limits.serials(of: "a") == [page, refusal])
        #expect(limits.beginReading("a")?.contains("not confirmed") == true)
        _ = limits.received(refusal, by: "a")
        #expect(limits.beginReading("a") == nil)
    }
    @Test("a bus that holds nothing for a peer proves what was sent before it was asked") func busAnswers() throws {
        let ledger = PeerLedger()
        var limits = Limits(ledger)
        _ = limits.call("a")
        _ = try deliver(&limits, ledger, .pages)
        let asked = limits.questionsAboutDeliveries()
        let later = try deliver(&limits, ledger, .ringReplies)
        let none = limits.questionsAboutDeliveries()
        #expect(asked.count == 1 && none.isEmpty)
        limits.answered(try #require(asked.first), held: 100)
        #expect(ledger.held(.pages) == 1)
        limits.answered(try #require(asked.first), held: 0)
        #expect(ledger.held(.pages) == 0 && limits.serials(of: "a") == [later])
    }
    @Test("an answer of the bus that is older than a confirmation proves nothing new") func busAnswersLate() throws {
        let ledger = PeerLedger()
        var limits = Limits(ledger)
        _ = limits.call("a")
        _ = try deliver(&limits, ledger, .pages)
        let asked = try #require(limits.questionsAboutDeliveries().first)
        let later = try deliver(&limits, ledger, .ringReplies)
        let isNew = limits.received(later, by: "a")
        #expect(isNew)
        for held in [100, 0] { limits.answered(asked, held: held) }
        #expect(ledger.held(.pages) == 0 && limits.serials(of: "a").isEmpty)
    }
    @Test("what could not be sent is nothing that is unread") func unsent() throws {
        let ledger = PeerLedger()
        var limits = Limits(ledger)
        _ = limits.call("a")
        do throws(RelayError) {
            try limits.deliver(to: "a", try? ledger.charge(.pages, to: "a")) { _ throws(RelayError) in
                throw RelayError(.unavailable, "no connection")
            }
            Issue.record("it was sent")
        } catch { #expect(error.code == .unavailable) }
        #expect(limits.serials(of: "a").isEmpty && ledger.held(.pages) == 0)
    }
}
