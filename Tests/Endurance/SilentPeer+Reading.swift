import Glibc
import RelayCore

/// A connection that says hello, asks, and reads nothing of what it is told: a bare socket, since libdbus would read.
final class SilentPeer {
    private let descriptor: Int32

    /// Blocks for a moment: the bus answers at once.
    init(socket path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        let connected = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard connected == 0 else { throw RelayError(.unavailable, "no connection to \(path)") }
        let user = String(getuid()).utf8.map { String($0, radix: 16) }.joined()
        try write(Array("\0AUTH EXTERNAL \(user)\r\n".utf8))
        var answer = [UInt8](repeating: 0, count: 200)
        guard Glibc.read(descriptor, &answer, answer.count) > 0, answer.starts(with: "OK".utf8) else {
            throw RelayError(.notPermitted, "the bus at \(path) does not let us in")
        }
        try write(Array("BEGIN\r\n".utf8))
        let bus = "org.freedesktop.DBus"
        try call(.methodCall(path: "/org/freedesktop/DBus", interface: bus, member: "Hello", destination: bus), 1)
    }
    deinit { close(descriptor) }

    /// Asks the ledger for all that it has, so many times.
    func read(_ interface: String, of service: String, times: UInt32) throws {
        var body = WireWriter()
        try Stream1.write(StreamRead(names: [Stream1.allNames], after: 0, limit: 0, token: 0), into: &body)
        let header = MessageHeader.methodCall(
            path: Stream1.path(of: interface), interface: Stream1.name, member: "Read", destination: service,
            signature: try Signature(Stream1.readSignature))
        for number in 0..<times { try call(header, number + 2, body.bytes) }
    }
    private func call(_ header: MessageHeader, _ serial: UInt32, _ body: [UInt8] = []) throws {
        var writer = WireWriter()
        let start = try header.write(into: &writer, serial: serial)
        writer.append(body)
        try MessageHeader.finish(&writer, bodyStart: start)
        try write(writer.bytes)
    }
    private func write(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count <= 0 { throw RelayError(.unavailable, "the bus does not take what is sent: \(errno)") }
            rest = rest.dropFirst(count)
        }
    }
}
