import Foundation
import Synchronization
import TestTraits
import Testing

@testable import RelayCore

@Suite("The ledger of what peers hold", .tags(.g3, .g4)) struct PeerLedgerTests {
    /// A ledger that knows these peers.
    private func ledger(_ peers: [(String, UInt32)] = [(":1.1", 1)]) -> PeerLedger {
        let ledger = PeerLedger()
        for (peer, user) in peers {
            ledger.arrive(peer)
            ledger.identify(peer, user: user)
        }
        return ledger
    }

    @Test("a charge counts as long as it lives, and is given back once, from whichever thread") func charges()
        async throws
    {
        let ledger = ledger()
        var charge: PeerLedger.Charge? = try ledger.charge(.pages, 100, to: ":1.1")
        let copy = charge
        charge = nil
        #expect(ledger.held(.pages, of: ":1.1") == 100 && copy?.amount == 100)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    for _ in 0..<50 {
                        let one = try? ledger.charge(call: .queuedCalls, arguments: .queuedBytes, 7, to: ":1.1")
                        one?.add(0)
                    }
                }
            }
        }
        #expect(ledger.held(.queuedCalls, of: ":1.1") == 0 && ledger.held(.queuedBytes, of: ":1.1") == 0)
        withExtendedLifetime(copy) {}
    }
    @Test("a charge that grows is bounded, and one that has grown anyway counts") func growing() throws {
        let ledger = ledger()
        do {
            let charge = try ledger.charge(.pages, 256 << 10, to: ":1.1")
            try charge.change(to: 1 << 20)
            #expect(throws: PeerLedger.Refusal.self) { try charge.change(to: 1 << 20 + 1) }
            #expect(charge.amount == 1 << 20)
            try charge.change(to: 10)
            #expect(ledger.held(.pages, ofUser: 1) == 10 && ledger.held(.pages) == 10)
        }
        let unread = ledger.charge(growing: .unreadReplies, of: ":1.1")
        unread.add(3 << 20)
        #expect(ledger.refusal(.unreadReplies, 0, for: ":1.1")?.holder == .peer(":1.1"))
        unread.add(-(3 << 20))
        #expect(ledger.refusal(.unreadReplies, 0, for: ":1.1") == nil)
    }
    @Test("a peer that has left is forgotten with the last that is held for it, and all goes from its user's part")
    func departure() throws {
        let ledger = ledger([(":1.1", 1), (":1.2", 1)])
        do {
            let running = try ledger.charge(.callDescriptors, 5, to: ":1.1")
            ledger.depart(":1.1")
            #expect(ledger.present == [":1.2"] && ledger.held(.callDescriptors, ofUser: 1) == 5)
            withExtendedLifetime(running) {}
        }
        #expect(ledger.held(.callDescriptors, ofUser: 1) == 0 && !ledger.isEmpty)
        ledger.depart(":1.2")
        #expect(ledger.isEmpty)
        ledger.depart("nobody")
        ledger.identify("nobody", user: 3)
        #expect(ledger.isEmpty)
    }
    @Test("what came before it was known whose the peer is has to fit that user's part") func unknown() throws {
        let ledger = ledger((0..<6).map { (":1.\($0)", 1) })
        let known = try (0..<5).map { try ledger.charge(.callDescriptors, 32, to: ":1.\($0)") }
        ledger.arrive(":9.1")
        ledger.arrive(":9.2")
        let (one, two) = (
            try ledger.charge(.callDescriptors, 16, to: ":9.1"), try ledger.charge(.callDescriptors, 16, to: ":9.2")
        )
        #expect(one.refusalAsKnown == nil, "it is not known yet")
        ledger.identify(":9.1", user: 1)
        ledger.identify(":9.2", user: 2)
        #expect(one.refusalAsKnown?.holder == .user(1) && two.refusalAsKnown == nil)
        #expect(known[0].refusalAsKnown == nil, "what was admitted stays so")
        #expect(ledger.held(.callDescriptors, ofUser: 1) == 176 && ledger.held(.callDescriptors, ofUser: nil) == 0)
    }

    // MARK: The page

    /// Renewed by `RELAY_UPDATE_PAGES=1 swift test --filter PeerLedgerTests`.
    @Test("docs/internals/PROTOCOL.md has the table that the code has") func page() throws {
        let root = "/" + #filePath.split(separator: "/").dropLast(5).joined(separator: "/")
        let file = "\(root)/docs/internals/PROTOCOL.md"
        let page = try String(contentsOfFile: file, encoding: .utf8)
        let (begin, end) = ("<!-- bounds: begin -->\n", "\n<!-- bounds: end -->")
        let start = try #require(page.range(of: begin)?.upperBound)
        let stop = try #require(page.range(of: end)?.lowerBound)
        if ProcessInfo.processInfo.environment["RELAY_UPDATE_PAGES"] != nil {
            let renewed = page[..<start] + PeerResource.table + page[stop...]
            try String(renewed).write(toFile: file, atomically: true, encoding: .utf8)
        } else {
            #expect(page[start..<stop] == PeerResource.table, "set RELAY_UPDATE_PAGES=1 for this test, which writes it")
        }
    }
    @Test("amounts are written as people read them") func amounts() {
        let (bytes, pieces) = (PeerResource.pages.bounds, PeerResource.queuedCalls.bounds)
        #expect(
            [0, 1_023, 1_024, 32 << 10, 1 << 20, 24 << 20].map(bytes.text) == [
                "0 bytes", "1,023 bytes", "1 KiB", "32 KiB", "1 MiB", "24 MiB",
            ])
        #expect(
            [0, 64, 999, 6_400, 16_384, 1_234_567].map(pieces.text) == [
                "0", "64", "999", "6,400", "16,384", "1,234,567",
            ])
    }
}
