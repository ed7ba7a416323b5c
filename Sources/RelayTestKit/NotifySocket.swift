import Glibc
import RelayCore
import Synchronization

/// Stands for a service manager's socket: keeps what a program notifies it of. Name it in `NOTIFY_SOCKET`.
package final class NotifySocket: Sendable {
    private let folder: TestFolder
    private let kept = Kept()
    /// Where it is.
    package var path: String { folder.path + "/notify" }
    /// What has come, in order: a message may have several lines.
    package var messages: [String] { kept.state.withLock { $0.messages } }
    /// The same, by assignments.
    package var lines: [String] { messages.flatMap { $0.split(separator: "\n").map(String.init) } }

    private final class Kept: Sendable {
        let state = Mutex((messages: [String](), isOver: false))
    }
    package init() throws {
        folder = try TestFolder()
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw RelayError(.unavailable, "no socket: \(SystemError(errno))") }
        let path = folder.path + "/notify"
        let isBound = Self.withAddress(of: path) { bind(descriptor, $0, $1) == 0 }
        // Looks now and then whether it is over: nothing else ends a `recv` of a socket without a connection.
        var patience = timeval(tv_sec: 0, tv_usec: 100_000)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        guard isBound else {
            close(descriptor)
            throw RelayError(.unavailable, "cannot bind \(path): \(SystemError(errno))")
        }
        try OwnThread.start("notify") { [kept] in
            var bytes = [UInt8](repeating: 0, count: 8_192)
            while !kept.state.withLock({ $0.isOver }) {
                let count = recv(descriptor, &bytes, bytes.count, 0)
                if count <= 0 { continue }
                let message = String(decoding: bytes.prefix(count), as: UTF8.self)
                kept.state.withLock { $0.messages.append(message) }
            }
            close(descriptor)
        }
    }
    deinit { kept.state.withLock { $0.isOver = true } }

    /// The assignments that were sent before this, in order: all of them have come when it returns.
    package func settledLines() async throws -> [String] {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw RelayError(.unavailable, "no socket: \(SystemError(errno))") }
        defer { close(descriptor) }
        let mark = "X_MARK=\(UInt64.random(in: .min ... .max))"
        let sent = Self.withAddress(of: path) { sendto(descriptor, mark, mark.utf8.count, 0, $0, $1) }
        guard sent == mark.utf8.count else { throw RelayError(.unavailable, "not sent: \(SystemError(errno))") }
        guard await eventually({ lines.contains(mark) }) else {
            throw RelayError(.timedOut, "what was sent to \(path) has not come: \(lines)")
        }
        return lines.prefix { $0 != mark }.filter { !$0.hasPrefix("X_MARK=") }
    }
    private static func withAddress<Result>(
        of path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        return withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    /// How many assignments there are that begin with this.
    package func count(_ prefix: String) -> Int { lines.count { $0.hasPrefix(prefix) } }
}
