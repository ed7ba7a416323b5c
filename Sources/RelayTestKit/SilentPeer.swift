import BusProcess
import Glibc
import RelayCore
package import RelayWire

/// A connection that calls and reads no answer, until a test has it read: a bare socket, since libdbus would read.
package final class SilentPeer {
    private let descriptor: Int32
    private var lastSerial: UInt32 = 1
    /// What the bus calls it.
    package private(set) var name = ""

    /// Blocks for a moment: the bus answers at once.
    package init(socket path: String) throws {
        guard let connected = UnixSocket.connected(to: path, isBlocking: true) else {
            throw RelayError(.unavailable, "no connection to \(path)")
        }
        descriptor = connected
        let user = String(getuid()).utf8.map { String($0, radix: 16) }.joined()
        try write(Array("\0AUTH EXTERNAL \(user)\r\n".utf8))
        guard String(decoding: read(flags: 0), as: UTF8.self).hasPrefix("OK") else {
            throw RelayError(.notPermitted, "the bus at \(path) does not let us in")
        }
        try write(Array("BEGIN\r\n".utf8))
        let bus = "org.freedesktop.DBus"
        try send(.methodCall(path: "/org/freedesktop/DBus", interface: bus, member: "Hello", destination: bus))
        // Its destination is the name that the answer is about.
        while name.isEmpty {
            let answer = read(flags: 0)
            guard let start = answer.indices.first(where: { answer[$0...].starts(with: ":1.".utf8) }) else { continue }
            let digits = answer[(start + 3)...].prefix { (48...57).contains($0) }
            name = ":1." + String(decoding: digits, as: UTF8.self)
        }
    }
    deinit { close(descriptor) }

    package func send(_ header: MessageHeader, _ body: [UInt8] = []) throws {
        lastSerial += 1
        var writer = WireWriter()
        let start = try header.write(into: &writer, serial: lastSerial)
        writer.append(body)
        // Over what ours send, too.
        try MessageHeader.finish(&writer, bodyStart: start, limit: WireLimits.messageLength)
        try write(writer.bytes)
    }
    /// Takes what has come, and drops it.
    package func drain() { while !read(flags: Int32(MSG_DONTWAIT)).isEmpty {} }

    private func read(flags: Int32) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &bytes, bytes.count, flags)
        return Array(bytes.prefix(max(0, count)))
    }
    private func write(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count <= 0 { throw RelayError(.unavailable, "the bus does not take what is sent: \(errno)") }
            rest = rest.dropFirst(count)
        }
    }
}
