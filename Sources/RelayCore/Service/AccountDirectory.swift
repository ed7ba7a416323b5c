import Glibc

/// Where the names of users and groups are looked up.
package protocol AccountDirectory {
    var ownUserID: UInt32 { get }
    /// Nil for a name that is unknown, or cannot be looked up.
    func userID(of name: String) -> UInt32?
    func groupID(of name: String) -> UInt32?
}

/// The system's accounts, through the name service.
package struct SystemAccounts: AccountDirectory, Sendable {
    package init() {}
    package var ownUserID: UInt32 { geteuid() }

    package func userID(of name: String) -> UInt32? {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16_384)
        guard getpwnam_r(name, &entry, &buffer, buffer.count, &found) == 0, found != nil else { return nil }
        return entry.pw_uid
    }
    package func groupID(of name: String) -> UInt32? {
        var entry = group()
        var found: UnsafeMutablePointer<group>?
        // A group's members are in it, too.
        var buffer = [CChar](repeating: 0, count: 262_144)
        guard getgrnam_r(name, &entry, &buffer, buffer.count, &found) == 0, found != nil else { return nil }
        return entry.gr_gid
    }
}
