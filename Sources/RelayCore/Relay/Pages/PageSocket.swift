import Glibc

/// A subscriber's end of the socket by which a service sends the pages of a long replay. See "OpenReplay and Replay" in
/// PROTOCOL.md.
package struct PageSocket: Sendable {
    /// A page of so many bytes is one of many.
    package static let worthwhile = 64 << 10
    /// Of the socket: a page and its overhead. The kernel gives what the administrator allows, and twice that.
    private static let room: Int32 = 512 << 10
    /// No page is larger.
    private static let longest = 1 << 20
    private let descriptor: ReceivedDescriptor

    /// A socket, and the service's end of it. Nil: the system has none.
    package static func pair() -> (ours: Self, theirs: ReceivedDescriptor)? {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { return nil }
        var room = Self.room
        setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &room, socklen_t(MemoryLayout<Int32>.size))
        return (Self(descriptor: ReceivedDescriptor(ends[0])), ReceivedDescriptor(ends[1]))
    }
    /// A page of so many bytes, which was announced: it is there. Nil: it is not, or nobody knows what comes next.
    package func read(_ size: Int) -> [UInt8]? {
        guard size <= Self.longest else { return nil }
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { bytes, count in
            while count < size {
                let rest = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(bytes)[count..<size])
                let read = descriptor.withNumber { recv($0, rest.baseAddress, rest.count, Int32(MSG_DONTWAIT)) }
                if read < 0 && errno == EINTR { continue }
                if read <= 0 { return }
                count += read
            }
        }
        return bytes.count == size ? bytes : nil
    }
}
