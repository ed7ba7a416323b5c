import Synchronization
import TestTraits
import Testing

@testable import RelayCore

@Suite("Account cache", .tags(.g7)) struct AccountCacheTests {
    /// Counts what it is asked.
    private final class Directory: AccountDirectory, Sendable {
        let asked = Mutex<[String]>([])
        let users: Mutex<[String: UInt32]>
        init(_ users: [String: UInt32]) { self.users = Mutex(users) }
        var ownUserID: UInt32 { 1_000 }
        func userID(of name: String) -> UInt32? {
            asked.withLock { $0.append(name) }
            return users.withLock { $0[name] }
        }
        func groupID(of name: String) -> UInt32? {
            asked.withLock { $0.append("group " + name) }
            return nil
        }
    }
    private final class Clock: Sendable {
        let now = Atomic<UInt64>(0)
    }

    @Test("what was found is asked for once, what was not found again after a minute")
    func remembers() {
        let directory = Directory(["ann": 7])
        let clock = Clock()
        let cache = AccountCache(of: directory) { clock.now.load(ordering: .relaxed) }
        #expect(cache.userID(of: "ann") == 7)
        #expect(cache.userID(of: "bob") == nil)
        #expect(cache.groupID(of: "ann") == nil)
        directory.users.withLock { $0 = ["bob": 8] }
        clock.now.store(59_999_999_999, ordering: .relaxed)
        #expect(cache.userID(of: "ann") == 7)
        #expect(cache.userID(of: "bob") == nil)
        #expect(directory.asked.withLock { $0 } == ["ann", "bob", "group ann"])
        clock.now.store(60_000_000_000, ordering: .relaxed)
        #expect(cache.userID(of: "bob") == 8)
        #expect(cache.userID(of: "ann") == 7)
        #expect(directory.asked.withLock { $0 } == ["ann", "bob", "group ann", "bob"])
    }
    @Test("a requirement's names are looked up before they are needed")
    func warms() {
        let directory = Directory(["ann": 7])
        let cache = AccountCache(of: directory)
        let requirement = PeerRequirement.user("ann") && .group("movers") || .sameUser
        requirement.lookUp(in: cache)
        #expect(directory.asked.withLock { $0 } == ["ann", "group movers"])
        #expect(!requirement.isMet(by: PeerCredentials(userID: 7), accounts: cache))
        #expect(requirement.isMet(by: PeerCredentials(userID: 1_000), accounts: cache))
        #expect(directory.asked.withLock { $0.count } == 2)
    }
}
