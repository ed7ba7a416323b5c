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
}
