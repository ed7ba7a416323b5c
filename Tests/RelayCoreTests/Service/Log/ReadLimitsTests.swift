import TestTraits
import Testing

@testable import RelayCore

@Suite("The quota of Read", .heavy, .tags(.g3)) struct ReadLimitsTests {
    private static let page = 256 << 10

    /// Everything that a peer goes through for one page.
    @discardableResult private func take(
        _ limits: inout ReadLimits, _ ledger: PeerLedger, _ peer: String, _ user: UInt32? = 1, token: UInt64 = 0,
        gets next: UInt64, bytes: Int = page
    ) -> [ReadLimits.Verdict] {
        ledger.arrive(peer)
        ledger.identify(peer, user: user)
        var verdicts = [limits.begin(peer, token: token)]
        if verdicts.last == .admitted { verdicts.append(limits.reserve(peer, bytes: Self.page, ledger)) }
        if verdicts.last == .admitted { verdicts.append(limits.answer(peer, bytes: bytes, token: next)) }
        return verdicts
    }
    private func isRefused(_ verdict: ReadLimits.Verdict?) -> Bool {
        if case .refused? = verdict { true } else { false }
    }

    @Test("a peer has one unproved page; the token of the last one buys the next") func chain() {
        let ledger = PeerLedger()
        var limits = ReadLimits()
        #expect(take(&limits, ledger, "a", gets: 7, bytes: 10) == [.admitted, .admitted, .admitted])
        #expect(ledger.held(.pages, of: "a") == 10)
        for wrong in [0, 6, 8, UInt64.max] { #expect(isRefused(limits.begin("a", token: wrong))) }
        #expect(take(&limits, ledger, "a", token: 7, gets: 9, bytes: 30) == [.admitted, .admitted, .admitted])
        #expect(ledger.held(.pages) == 30, "what was proved no longer counts")
        #expect(isRefused(limits.begin("a", token: 7)), "a token is good once")
        limits.depart("a")
        #expect(ledger.held(.pages) == 0 && limits.peerCount == 0)
    }
    @Test("while a Read is under way every other one is refused, whatever it guesses") func pipelined() {
        let ledger = PeerLedger()
        var limits = ReadLimits()
        #expect(limits.begin("a", token: 0) == .admitted)
        #expect(isRefused(limits.begin("a", token: 0)))
        #expect(limits.reserve("a", bytes: Self.page, ledger) == .admitted)
        for token in [0, 7] as [UInt64] { #expect(isRefused(limits.begin("a", token: token))) }
        #expect(limits.answer("a", bytes: 1, token: 7) == .admitted)
        #expect(limits.begin("a", token: 7) == .admitted)
    }
    @Test("sixteen pages for a user's peers, 16 MiB for all") func bounds() {
        let ledger = PeerLedger()
        var limits = ReadLimits()
        for user in 0..<4 as Range<UInt32> {
            for peer in 0..<16 { #expect(take(&limits, ledger, "\(user).\(peer)", user, gets: 5).last == .admitted) }
            #expect(ledger.held(.pages, ofUser: user) == PeerResource.pages.bounds.share)
            #expect(isRefused(take(&limits, ledger, "\(user).16", user, gets: 5).last))
        }
        #expect(ledger.held(.pages) == PeerResource.pages.bounds.total)
        #expect(isRefused(take(&limits, ledger, "other", 9, gets: 5).last), "a user of its own, but no room in all")
        // One that proves gives its own room back, and takes it again.
        #expect(take(&limits, ledger, "0.3", 0, token: 5, gets: 6) == [.admitted, .admitted, .admitted])
        #expect(isRefused(take(&limits, ledger, "other", 9, gets: 5).last))
        limits.depart("2.15")
        #expect(take(&limits, ledger, "other", 9, gets: 5).last == .admitted)
    }
    @Test("peers whose user is unknown share a room of their own") func unknownUser() {
        let ledger = PeerLedger()
        var limits = ReadLimits()
        for peer in 0..<16 { #expect(take(&limits, ledger, "\(peer)", nil, gets: 5).last == .admitted) }
        #expect(isRefused(take(&limits, ledger, "16", nil, gets: 5).last))
        #expect(take(&limits, ledger, "17", 0, gets: 5).last == .admitted)
    }
    @Test("a page that turns out too large for the room that is left does not go out") func large() {
        let ledger = PeerLedger()
        var limits = ReadLimits()
        for peer in 0..<15 { take(&limits, ledger, "\(peer)", gets: 5) }
        #expect(isRefused(take(&limits, ledger, "15", gets: 5, bytes: Self.page + 1).last))
        #expect(ledger.held(.pages) == 15 * Self.page)
        #expect(take(&limits, ledger, "15", gets: 5, bytes: Self.page).last == .admitted, "and it may ask again")
    }
    @Test("a Read that failed leaves nothing behind") func failed() {
        let ledger = PeerLedger()
        var limits = ReadLimits()
        _ = limits.begin("a", token: 0)
        limits.withdraw("a")
        _ = limits.begin("a", token: 0)
        _ = limits.reserve("a", bytes: Self.page, ledger)
        limits.withdraw("a")
        #expect(ledger.held(.pages) == 0 && limits.peerCount == 0)
        #expect(limits.begin("a", token: 0) == .admitted)
    }
    @Test("after 64 refusals in a row there is silence, until a proof") func silence() {
        let ledger = PeerLedger()
        var limits = ReadLimits()
        take(&limits, ledger, "a", gets: 7)
        for _ in 0..<ReadLimits.refusals { #expect(isRefused(limits.begin("a", token: 0))) }
        for _ in 0..<3 { #expect(limits.begin("a", token: 0) == .ignored) }
        #expect(take(&limits, ledger, "a", token: 7, gets: 8).last == .admitted)
        #expect(isRefused(limits.begin("a", token: 0)), "it is told again")
    }
    @Test("a page that goes out in between is no proof") func silenceWithin() {
        let ledger = PeerLedger()
        var limits = ReadLimits()
        #expect(limits.begin("a", token: 0) == .admitted)
        for _ in 0..<ReadLimits.refusals - 1 { #expect(isRefused(limits.begin("a", token: 0))) }
        #expect(limits.reserve("a", bytes: 1, ledger) == .admitted)
        #expect(isRefused(limits.begin("a", token: 0)))
        #expect(limits.answer("a", bytes: 1, token: 7) == .admitted)
        #expect(limits.begin("a", token: 0) == .ignored)
        #expect(limits.begin("a", token: 7) == .admitted)
        #expect(isRefused(limits.begin("a", token: 0)))
    }
    @Test("a peer that is refused for others' sake is told each time, and served as soon as there is room")
    func innocent() {
        let ledger = PeerLedger()
        var limits = ReadLimits()
        for peer in 0..<16 { take(&limits, ledger, "\(peer)", gets: 5) }
        for _ in 0..<ReadLimits.refusals * 2 { #expect(isRefused(take(&limits, ledger, "late", gets: 5).last)) }
        #expect(limits.peerCount == 16, "nothing is kept of it")
        limits.depart("3")
        #expect(take(&limits, ledger, "late", gets: 5) == [.admitted, .admitted, .admitted])
        #expect(isRefused(limits.begin("late", token: 0)))
    }
    @Test("a peer that leaves in the middle is forgotten, and gets no page", arguments: 0...2) func departure(step: Int)
    {
        let ledger = PeerLedger()
        var limits = ReadLimits()
        _ = limits.begin("a", token: 0)
        if step == 0 { limits.depart("a") }
        #expect(limits.reserve("a", bytes: Self.page, ledger) == (step == 0 ? .ignored : .admitted))
        if step == 1 { limits.depart("a") }
        #expect(limits.answer("a", bytes: 9, token: 3) == (step == 2 ? .admitted : .ignored))
        limits.withdraw("nobody")
        limits.depart("a")
        #expect(ledger.held(.pages) == 0 && limits.peerCount == 0)
    }

    /// Two peers of one user, every sequence of so many steps: what is admitted is never more than what the rules say,
    /// and nothing is left when all have gone.
    @Test("whatever comes in whatever order, the bounds hold and nothing is left over") func exhaustive() {
        enum Step: CaseIterable { case begin, guess, prove, reserve, answer, withdraw, depart }
        let peers = ["a", "b"]
        let moves = peers.indices.flatMap { peer in Step.allCases.map { (peer: peer, step: $0) } }
        /// What a sequence leads to is found by going through it: charges are no values.
        func run(_ sequence: [Int]) {
            let ledger = PeerLedger()
            var (limits, owed) = (ReadLimits(), [nil, nil] as [UInt64?])
            for peer in peers {
                ledger.arrive(peer)
                ledger.identify(peer, user: 1)
            }
            for (number, move) in sequence.enumerated() {
                let (index, peer) = (moves[move].peer, peers[moves[move].peer])
                let before = ledger.held(.pages)
                switch moves[move].step {
                case .begin, .guess:
                    let isGuess = moves[move].step == .guess
                    let isAdmitted = limits.begin(peer, token: isGuess ? 99 : 0) == .admitted
                    if isAdmitted { #expect(owed[index] == nil, "no page without a proof of the one before") }
                case .prove:
                    guard let token = owed[index] else { continue }
                    #expect(limits.begin(peer, token: token) == .admitted)
                    #expect(ledger.held(.pages) == before - 5)
                    owed[index] = nil
                case .reserve: _ = limits.reserve(peer, bytes: 10, ledger)
                case .answer:
                    if limits.answer(peer, bytes: 5, token: UInt64(number + 1)) == .admitted {
                        #expect(owed[index] == nil)
                        owed[index] = UInt64(number + 1)
                    }
                case .withdraw:
                    // A page that is out cannot be withdrawn by the service.
                    if owed[index] == nil { limits.withdraw(peer) }
                case .depart:
                    limits.depart(peer)
                    owed[index] = nil
                }
                #expect(ledger.held(.pages) == ledger.held(.pages, ofUser: 1) && 0...20 ~= ledger.held(.pages))
            }
            for peer in peers {
                limits.depart(peer)
                ledger.depart(peer)
            }
            #expect(ledger.isEmpty && limits.peerCount == 0)
        }
        var count = 0
        func go(_ sequence: [Int]) {
            if sequence.count == 4 {
                count += 1
                return run(sequence)
            }
            for move in moves.indices { go(sequence + [move]) }
        }
        go([])
        #expect(count == 14 * 14 * 14 * 14)
    }
}
