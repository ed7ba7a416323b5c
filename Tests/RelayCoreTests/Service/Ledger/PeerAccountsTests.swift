import TestTraits
import Testing

@testable import RelayCore

@Suite("What peers hold, as accounts", .tags(.g3, .g4)) struct PeerAccountsTests {
    /// Three peers of two users, and one whose user becomes known late, in every order of a few steps: with bounds that
    /// are soon reached.
    private struct World: Explorable {
        enum Step: CaseIterable {
            case takeFirst, takeSecond, takeOther, takeLate, takeBoth, giveFirst, giveOther, giveLate, identifyLate
            case departFirst, departLate
        }
        private static let (first, second, other, late) = (":1.1", ":1.2", ":2.1", ":3.1")
        private var accounts = PeerAccounts { resource in
            switch resource {
            // Each peer's first is its own; a user has two beside those, and all have three.
            case .queuedCalls: .init(what: "calls", peer: 3, user: .upTo(2), total: 3, reserve: 1)
            default: .init(what: "more", peer: 3, user: .twiceTheRest, total: 6)
            }
        }
        /// What is held, as the steps say.
        private var held: [String: [PeerResource: Int]] = [:]
        private var users: [String: UInt32] = [:]
        private var departed: Set<String> = []

        init() {
            for (peer, user) in [(Self.first, 1), (Self.second, 1), (Self.other, 2)] as [(String, UInt32)] {
                accounts.arrive(peer)
                accounts.identify(peer, user: user)
                users[peer] = user
            }
            accounts.arrive(Self.late)
        }
        private mutating func take(_ peer: String, _ amounts: [PeerResource: Int]) {
            let parts = amounts.map { PeerAccounts.Part(resource: $0, amount: $1) }
            let refusals = parts.compactMap { accounts.refusal($0, for: peer) }
            do throws(PeerLedger.Refusal) {
                try accounts.take(parts[0], and: parts.dropFirst().first, for: peer)
                #expect(refusals.isEmpty)
                for part in parts { held[peer, default: [:]][part.resource, default: 0] += part.amount }
            } catch { #expect(refusals.contains(error)) }
        }
        private mutating func give(_ peer: String) {
            for (resource, amount) in held[peer] ?? [:] where amount > 0 {
                accounts.change(resource, by: -1, for: peer)
                held[peer]?[resource] = amount - 1
            }
        }
        private mutating func depart(_ peer: String) {
            accounts.depart(peer)
            departed.insert(peer)
            #expect(!accounts.isPresent(peer))
        }
        mutating func take(_ step: Step) {
            // Nothing is known any more of a peer that has left, and of which nothing is held.
            defer {
                for peer in departed where held[peer, default: [:]].values.allSatisfy({ $0 == 0 }) { users[peer] = nil }
            }
            switch step {
            case .takeFirst: take(Self.first, [.queuedCalls: 1])
            case .takeSecond: take(Self.second, [.queuedCalls: 2])
            case .takeOther: take(Self.other, [.callDescriptors: 2])
            case .takeLate: take(Self.late, [.queuedCalls: 1, .callDescriptors: 1])
            case .takeBoth: take(Self.first, [.queuedCalls: 1, .callDescriptors: 2])
            case .giveFirst: give(Self.first)
            case .giveOther: give(Self.other)
            case .giveLate: give(Self.late)
            case .identifyLate:
                if !accounts.isPresent(Self.late) { return }
                accounts.identify(Self.late, user: 2)
                users[Self.late] = 2
            case .departFirst: depart(Self.first)
            case .departLate: depart(Self.late)
            }
        }
        func checkEnd() {
            for resource in [.queuedCalls, .callDescriptors] as [PeerResource] {
                let reserve = resource == .queuedCalls ? 1 : 0
                var (ofUsers, ofAll): ([UInt32?: Int], Int) = ([:], 0)
                for peer in [Self.first, Self.second, Self.other, Self.late] {
                    let amount = held[peer]?[resource] ?? 0
                    #expect(accounts.held(resource, of: peer) == amount && 0...3 ~= amount)
                    ofUsers[users[peer], default: 0] += max(0, amount - reserve)
                    ofAll += max(0, amount - reserve)
                }
                for user in [1, 2, nil] as [UInt32?] {
                    #expect(accounts.held(resource, ofUser: user) == ofUsers[user] ?? 0)
                }
                #expect(accounts.held(resource) == ofAll)
                #expect(ofAll <= (resource == .queuedCalls ? 3 : 6))
            }
            // All go, and give back what they have: nothing is left.
            var rest = self
            for peer in [Self.first, Self.second, Self.other, Self.late] {
                rest.accounts.depart(peer)
                for _ in 0..<3 { rest.give(peer) }
            }
            #expect(rest.accounts.isEmpty)
        }
    }

    @Test("whatever comes in whatever order, accounts have the sums of what is held, and nothing is left over")
    func exhaustive() {
        let states = World().explore(depth: 4)
        #expect(states > 16_000)
    }

    /// How many of so many are taken.
    private func fill(
        _ accounts: inout PeerAccounts, _ resource: PeerResource, _ peer: String, _ count: Int = 100, of amount: Int = 1
    ) -> Int {
        (0..<count).count { _ in
            (try? accounts.take(PeerAccounts.Part(resource: resource, amount: amount), for: peer)) != nil
        }
    }
    private func peer(_ accounts: inout PeerAccounts, _ name: String, _ user: UInt32) -> String {
        accounts.arrive(name)
        accounts.identify(name, user: user)
        return name
    }

    @Test(
        "G4: a user's many peers take two thirds, and there is always some for a user that has none",
        arguments: PeerResource.allCases.filter { $0.bounds.user == .twiceTheRest })
    func share(resource: PeerResource) {
        var accounts = PeerAccounts()
        func flood(_ user: UInt32) -> Int {
            (0..<300).reduce(0) { taken, number in
                let peer = peer(&accounts, ":\(user).\(number)", user)
                return taken + fill(&accounts, resource, peer, resource.bounds.peer)
            }
        }
        let reserves = 300 * resource.bounds.reserve
        let first = flood(1) - reserves
        #expect(first == resource.bounds.share || first == resource.bounds.share - 1)
        let second = flood(2) - reserves
        #expect(second > 0)
        let third = flood(3) - reserves
        #expect(third > 0 && first + second + third < resource.bounds.total)
    }
    @Test("G4: what one user may have of anything leaves some for others") func every() {
        for resource in PeerResource.allCases {
            #expect(resource.bounds.share < resource.bounds.total, "\(resource)")
            #expect(resource.bounds.peer <= resource.bounds.total && resource.bounds.reserve < resource.bounds.peer)
        }
    }
    @Test("G3: a peer has 64 calls or 4 MiB waiting") func peerBound() {
        var accounts = PeerAccounts()
        let (first, second) = (peer(&accounts, ":1.1", 1), peer(&accounts, ":1.2", 1))
        let (calls, large) = (fill(&accounts, .queuedCalls, first), fill(&accounts, .queuedBytes, second, of: 1 << 20))
        #expect(calls == 64 && large == 4)
    }
    @Test("G4: one user's connections take that user's share of calls, and each has its own two") func calls() {
        var accounts = PeerAccounts()
        let taken = (0..<110).reduce(0) { taken, number in
            let peer = peer(&accounts, ":1.\(number)", 1)
            return taken + fill(&accounts, .queuedCalls, peer)
        }
        #expect(taken == 6_400 + 110 * 2)
        let other = peer(&accounts, ":2.1", 2)
        let ofOther = fill(&accounts, .queuedCalls, other)
        #expect(ofOther == 64)
        // Peers of which it is not known whose they are share one user's part.
        let unknown = (0..<110).reduce(0) { $0 + fill(&accounts, .queuedCalls, ":3.\($1)") }
        #expect(unknown == 6_400 + 110 * 2)
        // All have what all may have: each peer has its own.
        let most = (0..<110).reduce(0) { taken, number in
            let peer = peer(&accounts, ":4.\(number)", 4)
            return taken + fill(&accounts, .queuedCalls, peer)
        }
        #expect(most == 16_384 - 2 * 6_400 - 62 + 110 * 2)
    }
    @Test("G4: the descriptors of unread replies of both kinds have one bound together") func together() {
        var accounts = PeerAccounts()
        var rings = 0
        for number in 0..<60 {
            let peer = peer(&accounts, ":\(number).1", UInt32(number))
            rings += fill(&accounts, .ringReplies, peer, 2)
        }
        #expect(rings == 28)
        var descriptors = 0
        for number in 100..<120 {
            let peer = peer(&accounts, ":\(number).1", UInt32(number))
            descriptors += fill(&accounts, .replyDescriptors, peer, 9)
        }
        #expect(descriptors == PeerResource.unreadDescriptors - 2 * 28)
    }
    @Test("a refusal names what is held, who has it and the bound") func refusals() throws {
        let ledger = PeerLedger()
        ledger.arrive(":1.1")
        let held = try (0..<4).map { _ in try ledger.charge(.prompts, to: ":1.1") }
        func text(_ resource: PeerResource, _ peer: String) -> String? {
            ledger.refusal(resource, 1, for: peer)?.message
        }
        #expect(
            text(.prompts, ":1.1")
                == "commands that wait for a person: :1.1 has 4 of at most 4: wait until some are done")
        var more: [PeerLedger.Charge] = []
        for number in 2...5 {
            ledger.arrive(":1.\(number)")
            ledger.identify(":1.\(number)", user: 7)
            for _ in 0..<4 { more.append(try ledger.charge(.prompts, to: ":1.\(number)")) }
        }
        ledger.arrive(":1.6")
        ledger.identify(":1.6", user: 7)
        #expect(text(.prompts, ":1.6")?.contains("the peers of user 7 have 16 of at most 16") == true)
        withExtendedLifetime((held, more)) {}
    }
}
