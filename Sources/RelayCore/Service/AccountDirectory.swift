import Glibc

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
            // Some name services say so for a name that is unknown: getpwnam(3).
            case ENOENT, ESRCH: return .missing
            default: return .unknown
            }
        }
    }
}
