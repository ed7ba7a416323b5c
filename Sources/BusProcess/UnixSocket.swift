import Glibc

/// Stream sockets at a path of the file system: what of them a bus's tests need.
package enum UnixSocket {
    /// Connects. Nil, with `errno`, where nobody accepts it; `ENAMETOOLONG` for a path that no address has room for.
    package static func connected(to path: String, isBlocking: Bool) -> Int32? {
        open(path, isBlocking: isBlocking) { connect($0, $1, $2) == 0 }
    }
    /// Listens, without blocking. Nil, with `errno`, where that cannot be.
    ///
    /// - Parameter backlog: how many connections may wait to be accepted, beside one.
    package static func listening(at path: String, backlog: Int32 = 128) -> Int32? {
        open(path, isBlocking: false) { bind($0, $1, $2) == 0 && listen($0, backlog) == 0 }
    }

    private static func open(
        _ path: String, isBlocking: Bool, _ use: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Bool
    ) -> Int32? {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // In place: the field is an array that Swift sees as a tuple.
        let fits = withUnsafeMutableBytes(of: &address.sun_path) { room in
            guard path.utf8.count < room.count else { return false }
            room.copyBytes(from: path.utf8)
            return true
        }
        guard fits else {
            errno = ENAMETOOLONG
            return nil
        }
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(AF_UNIX, isBlocking ? kind : kind | Int32(SOCK_NONBLOCK.rawValue), 0)
        if descriptor < 0 { return nil }
        let isOpen = withUnsafePointer(to: &address) { address in
            // As the call's own type, which has the same beginning.
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                use(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        if isOpen { return descriptor }
        let code = errno
        close(descriptor)
        errno = code
        return nil
    }
}
