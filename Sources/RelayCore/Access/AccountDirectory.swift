import Glibc
import Synchronization
/// What a look-up of a name found.
package enum Account: Hashable, Sendable {
    case found(UInt32)
    /// There is no such user or group.
    case missing
    /// The directory could not be asked: nothing is known of the name.
    case unknown
}

/// Where the names of users and groups are looked up.
package protocol AccountDirectory {
    var ownUserID: UInt32 { get }
    func user(named name: String) -> Account
    func group(named name: String) -> Account
}

/// The system's accounts, through the name service, which may ask the network: a look-up can take seconds.
package struct SystemAccounts: AccountDirectory, Sendable {
    package init() {}
    package var ownUserID: UInt32 { geteuid() }

    package func user(named name: String) -> Account {
        Self.look { buffer in
            var entry = passwd()
            var found: UnsafeMutablePointer<passwd>?
            guard let start = buffer.baseAddress else { return (ENOMEM, nil) }
            let error = getpwnam_r(name, &entry, start, buffer.count, &found)
            return (error, found == nil ? nil : entry.pw_uid)
        }
    }
    package func group(named name: String) -> Account {
        Self.look { buffer in
            var entry = Glibc.group()
            var found: UnsafeMutablePointer<Glibc.group>?
            guard let start = buffer.baseAddress else { return (ENOMEM, nil) }
            let error = getgrnam_r(name, &entry, start, buffer.count, &found)
            return (error, found == nil ? nil : entry.gr_gid)
        }
    }
    /// Asks with more room until the entry fits: a group's members are in it, too.
    private static func look(
        _ ask: (UnsafeMutableBufferPointer<CChar>) -> (error: Int32, id: UInt32?)
    ) -> Account {
        var size = 16_384
        while true {
            let (error, id) = withUnsafeTemporaryAllocation(of: CChar.self, capacity: size, ask)
            switch error {
            case ERANGE where size < 4 << 20: size *= 4
            case 0: return id.map { .found($0) } ?? .missing
            // Some name services return that for an unknown name: getpwnam(3).
            case ENOENT, ESRCH: return .missing
            default: return .unknown
            }
        }
    }
}

/// When a name is looked up again that was not found.
package struct AccountTiming: Hashable, Sendable {
    /// Of a name that does not exist: somebody may add it, which is rare.
    package var missing = Duration.seconds(60)
    /// Of one that could not be looked up: the network may be back at any time.
    package var unknown = Duration.seconds(1)

    package init() {}
}

/// Remembers what another directory found: a look-up may ask the network, and a bus's thread must not wait for that.
///
/// The first question of a name waits for the answer, so names are looked up before they are needed
/// (`PeerRequirement.lookUp(in:)`). From then on no question waits. What was found is kept for as long as this lives:
/// numbers of users and groups do not change under a running service. What was not found is looked up again by a thread
/// of its own, see `AccountTiming`; until that has an answer, the last one counts.
package final class AccountCache<Directory: AccountDirectory & Sendable>: AccountDirectory, Sendable {
    private struct Key: Hashable {
        enum Kind { case user, group }
        let kind: Kind
        let name: String
    }
    private struct Entry {
        var account: Account
        var askedAt: UInt64
        /// A thread looks it up.
        var isAsked = false

        func isDue(_ now: UInt64, _ timing: AccountTiming) -> Bool {
            switch account {
            case .found: false
            case .missing: !isAsked && now >= MonotonicClock.deadline(after: timing.missing, from: askedAt)
            case .unknown: !isAsked && now >= MonotonicClock.deadline(after: timing.unknown, from: askedAt)
            }
        }
    }
    private let directory: Directory
    private let timing: AccountTiming
    private let now: @Sendable () -> UInt64
    /// Names of requirements only: no peer can add one.
    private let entries = Mutex<[Key: Entry]>([:])

    package init(
        of directory: Directory, timing: AccountTiming = AccountTiming(),
        now: @escaping @Sendable () -> UInt64 = { MonotonicClock.now }
    ) {
        (self.directory, self.timing, self.now) = (directory, timing, now)
    }
    package var ownUserID: UInt32 { directory.ownUserID }
    package func user(named name: String) -> Account { account(Key(kind: .user, name: name)) }
    package func group(named name: String) -> Account { account(Key(kind: .group, name: name)) }

    private func account(_ key: Key) -> Account {
        let now = now()
        let (known, mustAsk) = entries.withLock { entries -> (Account?, Bool) in
            guard let entry = entries[key] else { return (nil, false) }
            let isDue = entry.isDue(now, timing)
            if isDue { entries[key]?.isAsked = true }
            return (entry.account, isDue)
        }
        guard let known else { return lookUp(key) }
        if mustAsk {
            do throws(SystemError) {
                try OwnThread.start("accounts") { _ = self.lookUp(key) }
            } catch {
                // No threads left: later.
                entries.withLock { entries in
                    entries[key]?.isAsked = false
                    entries[key]?.askedAt = now
                }
            }
        }
        return known
    }
    /// Without the lock: other names must not wait for this one.
    private func lookUp(_ key: Key) -> Account {
        let account = key.kind == .user ? directory.user(named: key.name) : directory.group(named: key.name)
        entries.withLock { $0[key] = Entry(account: account, askedAt: now()) }
        return account
    }
}
