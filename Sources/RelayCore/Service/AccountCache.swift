import Synchronization

/// Remembers what another directory found: a look-up may ask the network, and a bus's thread must not wait for that.
///
/// What was found is kept for as long as this lives: numbers of users and groups do not change under a running service. What was
/// not found is asked for again after a minute.
package final class AccountCache<Directory: AccountDirectory & Sendable>: AccountDirectory, Sendable {
    private struct Entry {
        let id: UInt32?
        let askedAt: UInt64
    }
    private let directory: Directory
    private let now: @Sendable () -> UInt64
    private let known = Mutex<[String: Entry]>([:])
    private static var patience: UInt64 { 60_000_000_000 }

    package init(of directory: Directory, now: @escaping @Sendable () -> UInt64 = { MonotonicClock.now }) {
        (self.directory, self.now) = (directory, now)
    }
    package var ownUserID: UInt32 { directory.ownUserID }
    package func userID(of name: String) -> UInt32? { id("user " + name) { directory.userID(of: name) } }
    package func groupID(of name: String) -> UInt32? { id("group " + name) { directory.groupID(of: name) } }

    private func id(_ key: String, _ look: () -> UInt32?) -> UInt32? {
        let now = now()
        if let known = known.withLock({ $0[key] }), known.id != nil || now - known.askedAt < Self.patience {
            return known.id
        }
        // Without the lock: others' names must not wait for this one.
        let id = look()
        known.withLock { $0[key] = Entry(id: id, askedAt: now) }
        return id
    }
}
