import TestTraits
import Testing

@testable import RelayCore

@Suite("Requirements on peers", .heavy, .tags(.g7)) struct PeerRequirementTests {
    private struct Accounts: AccountDirectory {
        var ownUserID: UInt32 { 1000 }
        func user(named name: String) -> Account { account(["root": 0, "ann": 1000, "bob": 1001], name) }
        func group(named name: String) -> Account { account(["root": 0, "staff": 50], name) }
        private func account(_ known: [String: UInt32], _ name: String) -> Account {
            name == "unreachable" ? .unknown : known[name].map { .found($0) } ?? .missing
        }
    }
    private func meets(_ requirement: PeerRequirement, _ peer: PeerCredentials) -> Bool {
        requirement.isMet(by: peer, accounts: Accounts())
    }
    private let ann = PeerCredentials(userID: 1000, groupIDs: [50, 1000])
    private let bob = PeerCredentials(userID: 1001)
    private let root = PeerCredentials(userID: 0, groupIDs: [0])
    private let unknown = PeerCredentials(userID: nil)

    @Test func usersAndGroupsAreComparedByNumber() {
        #expect(meets(.sameUser, ann) && !meets(.sameUser, bob) && !meets(.sameUser, root))
        #expect(meets(.user("bob"), bob) && !meets(.user("bob"), ann))
        #expect(meets(.group("staff"), ann) && !meets(.group("staff"), bob))
        #expect(meets(.securityLabel("x"), PeerCredentials(userID: 1, securityLabel: "x")))
        #expect(!meets(.securityLabel("x"), PeerCredentials(userID: 1, securityLabel: "xy")))
    }
    @Test func whatCannotBeLookedUpIsNeverMet() {
        for requirement: PeerRequirement in [
            .sameUser, .user("root"), .user("nobody knows"), .group("root"), .group("nobody knows"), .securityLabel(""),
        ] {
            #expect(!meets(requirement, unknown), "\(requirement)")
        }
        #expect(!meets(.user("nobody knows"), root) && !meets(.group("nobody knows"), root))
        #expect(meets(.anyone, unknown))
    }
    @Test("G7: what depends on a name that cannot be looked up is neither met nor refused") func undecided() {
        func verdict(_ requirement: PeerRequirement) -> Bool? { requirement.verdict(on: ann, accounts: Accounts()) }
        let unreachable = PeerRequirement.group("unreachable")
        #expect(verdict(unreachable) == nil && verdict(.user("unreachable")) == nil)
        #expect(verdict(unreachable && .sameUser) == nil && verdict(unreachable && .user("bob")) == false)
        #expect(verdict(unreachable || .sameUser) == true && verdict(unreachable || .user("bob")) == nil)
        #expect(!meets(unreachable, ann) && !meets(unreachable && .sameUser, ann))
    }
    @Test func bothAndEither() {
        #expect(meets(.sameUser && .group("staff"), ann) && !meets(.user("bob") && .group("staff"), bob))
        #expect(meets(.user("bob") || .group("staff"), ann) && meets(.user("bob") || .group("staff"), bob))
        #expect(!meets(.user("bob") || .group("staff"), root))
        #expect(meets(.user("root") || .sameUser && .group("staff"), root))
        #expect((.user("a") || .sameUser && .group("b")).description == "(user 'a' or (the same user and group 'b'))")
        #expect(!(PeerRequirement.anyone && .sameUser).isAnyone)
    }
    @Test("G7: polkit is asked where the rest leaves it open, and never makes up for what is not known")
    func decisions() {
        typealias Decision = PeerRequirement.Decision
        let parts: [(PeerRequirement, Bool?)] = [
            (.sameUser, true), (.user("bob"), false), (.group("unreachable"), nil), (.polkit(action: "a"), nil),
            (.polkit(action: "b"), nil),
        ]
        func decide(_ requirement: PeerRequirement, _ answers: [String: Bool]) -> Decision {
            requirement.decision(on: ann, accounts: Accounts(), answers: answers)
        }
        /// What follows if polkit answers all questions.
        func end(_ requirement: PeerRequirement, _ world: [String: Bool]) -> Decision {
            var (answers, decision) = ([String: Bool](), decide(requirement, [:]))
            while case .ask(let action) = decision {
                #expect(answers[action] == nil)
                answers[action] = world[action]
                decision = decide(requirement, answers)
            }
            return decision
        }
        func value(_ leaf: PeerRequirement, _ world: [String: Bool]) -> Bool? {
            if case .polkit(let action) = leaf.rule { return world[action] }
            return leaf.verdict(on: ann, accounts: Accounts())
        }
        func both(_ a: Bool?, _ b: Bool?) -> Bool? {
            a == false || b == false ? false : a == true && b == true ? true : nil
        }
        func either(_ a: Bool?, _ b: Bool?) -> Bool? { both(a.map(!), b.map(!)).map(!) }
        func isSame(_ decision: Decision, _ truth: Bool?, _ what: PeerRequirement) {
            switch decision {
            case .met: #expect(truth == true, "\(what)")
            case .notMet: #expect(truth != true, "\(what)")
            // Where polkit would deny it, too: it is not asked in vain.
            case .unknown: #expect(truth != true, "\(what)")
            case .ask: Issue.record("\(what) still asks")
            }
        }
        for a in [true, false] {
            for b in [true, false] {
                let world = ["a": a, "b": b]
                for (one, _) in parts {
                    isSame(end(one, world), value(one, world), one)
                    for (two, _) in parts {
                        let (x, y) = (value(one, world), value(two, world))
                        isSame(end(one && two, world), both(x, y), one && two)
                        isSame(end(one || two, world), either(x, y), one || two)
                        for (three, _) in parts {
                            let z = value(three, world)
                            isSame(end(one && two || three, world), either(both(x, y), z), one && two || three)
                            isSame(end((one || two) && three, world), both(either(x, y), z), (one || two) && three)
                        }
                    }
                }
            }
        }
        // Not where it decides nothing.
        #expect(decide(.sameUser || .polkit(action: "a"), [:]) == .met)
        #expect(decide(.user("bob") && .polkit(action: "a"), [:]) == .notMet)
        #expect(decide(.user("bob") || .polkit(action: "a"), [:]) == .ask(action: "a"))
        #expect(!meets(.polkit(action: "a"), ann))
    }
    @Test("names of actions and units that nothing can have are refused") func names() {
        func isRefused(_ requirement: PeerRequirement) -> Bool {
            do throws(RelayError) { try requirement.check() } catch { return error.code == .invalidArgument }
            return false
        }
        for action in ["", "a b", "a/b", "é", "a\0", String(repeating: "a", count: 256)] {
            #expect(isRefused(.sameUser || .polkit(action: action)), "'\(action)'")
        }
        for unit in ["", "backup", ".service", "a b.service", "a/b.service", "x.services", "backup.service\n"] {
            #expect(isRefused(.systemdUnit(unit) && .sameUser), "'\(unit)'")
        }
        for fine: PeerRequirement in [
            .polkit(action: "org.example.print-all"), .systemdUnit("backup.service"),
            .systemdUnit("getty@tty1.service"),
            .systemdUnit("session-3.scope"), .anyone,
        ] { #expect(!isRefused(fine), "\(fine)") }
        #expect(
            (.systemdUnit("a.service") && .polkit(action: "b")).description
                == "(systemd unit 'a.service' and polkit action 'b')")
    }
}
