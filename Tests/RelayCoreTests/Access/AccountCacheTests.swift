import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore

@Suite("Account cache", .tags(.g7)) struct AccountCacheTests {
    /// Counts what it is asked.
    private final class Directory: AccountDirectory, Sendable {
        let asked = Mutex<[String]>([])
        let users: Mutex<[String: Account]>
        /// Held while look-ups are to last.
        let gate = Mutex(())
        init(_ users: [String: Account]) { self.users = Mutex(users) }
        var ownUserID: UInt32 { 1_000 }
        func user(named name: String) -> Account { find(name) }
        func group(named name: String) -> Account { find("group " + name) }
        private func find(_ name: String) -> Account {
            asked.withLock { $0.append(name) }
            gate.withLock { _ in }
            return users.withLock { $0[name] ?? .missing }
        }
        var count: Int { asked.withLock { $0.count } }
    }
    private final class Clock: Sendable {
        let now = Atomic<UInt64>(0)
    }

    @Test("what was found is asked for once, what was not found again after a minute, in the background")
    func remembers() async {
        let directory = Directory(["ann": .found(7), "cat": .unknown])
        let clock = Clock()
        let cache = AccountCache(of: directory) { clock.now.load(ordering: .relaxed) }
        #expect(cache.user(named: "ann") == .found(7))
        #expect(cache.user(named: "bob") == .missing)
        #expect(cache.group(named: "ann") == .missing)
        directory.users.withLock { $0 = ["bob": .found(8)] }
        clock.now.store(59_999_999_999, ordering: .relaxed)
        #expect(cache.user(named: "ann") == .found(7))
        #expect(cache.user(named: "bob") == .missing)
        #expect(directory.asked.withLock { $0 } == ["ann", "bob", "group ann"])
        clock.now.store(60_000_000_000, ordering: .relaxed)
        #expect(cache.user(named: "bob") == .missing)
        #expect(await eventually { cache.user(named: "bob") == .found(8) })
        #expect(cache.user(named: "ann") == .found(7))
        #expect(directory.asked.withLock { $0 } == ["ann", "bob", "group ann", "bob"])
    }
    @Test("what could not be looked up is asked for again after a second") func unknown() async {
        let directory = Directory(["ann": .unknown])
        let clock = Clock()
        let cache = AccountCache(of: directory) { clock.now.load(ordering: .relaxed) }
        #expect(cache.user(named: "ann") == .unknown)
        directory.users.withLock { $0 = ["ann": .found(7)] }
        clock.now.store(1_000_000_000, ordering: .relaxed)
        #expect(cache.user(named: "ann") == .unknown)
        #expect(await eventually { cache.user(named: "ann") == .found(7) })
    }
    @Test("G4: a name service that hangs delays nobody who asks again, and is asked once") func hanging() async {
        let directory = Directory([:])
        let clock = Clock()
        let cache = AccountCache(of: directory) { clock.now.load(ordering: .relaxed) }
        #expect(cache.group(named: "movers") == .missing)
        directory.gate.withLock { _ in
            clock.now.store(60_000_000_000, ordering: .relaxed)
            // On this thread, while the look-up hangs.
            for _ in 1...100 { #expect(cache.group(named: "movers") == .missing) }
            clock.now.store(600_000_000_000, ordering: .relaxed)
            #expect(cache.group(named: "movers") == .missing)
            directory.users.withLock { $0 = ["group movers": .found(9)] }
        }
        #expect(await eventually { cache.group(named: "movers") == .found(9) })
        #expect(directory.count == 2)
    }
    @Test("a requirement's names are looked up before they are needed")
    func warms() {
        let directory = Directory(["ann": .found(7)])
        let cache = AccountCache(of: directory)
        let requirement = PeerRequirement.user("ann") && .group("movers") || .sameUser
        #expect(requirement.lookUp(in: cache) == ["group 'movers'"])
        #expect(directory.asked.withLock { $0 } == ["ann", "group movers"])
        #expect(!requirement.isMet(by: PeerCredentials(userID: 7), accounts: cache))
        #expect(requirement.isMet(by: PeerCredentials(userID: 1_000), accounts: cache))
        #expect(directory.count == 2)
    }
}
