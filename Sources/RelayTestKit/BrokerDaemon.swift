package import BusProcess
import Glibc
package import RelayCore
import RelayWire

/// A private `dbus-broker` at a socket of its own, which ends with this value or with the process.
///
/// The program serves the connections that its controller admits. Elsewhere that is systemd; here it is this type, so
/// that neither systemd nor a journal has to run: `AddListener` with a socket, and with a policy that allows
/// everything.
package final class BrokerDaemon: Sendable {
    package let address: String
    package let process: ChildProcess
    /// The broker ends when this is closed.
    private let controller: Int32

    /// What `dbus-broker-launch` makes of a configuration without limits, as the system bus's: 64 connections of 8 MiB.
    package static let builtInBytes = 512 << 20

    /// Starts a broker whose socket is `directory`/bus. Its output goes to `directory`/bus.log.
    ///
    /// - Parameter bytes: what one user may have waiting in it.
    /// Throws `NotFound` when there is no dbus-broker, `Unavailable` when it does not come up within a minute.
    package init(directory: String, bytes: Int = builtInBytes) throws(RelayError) {
        address = "unix:path=\(Bus.escaped("\(directory)/bus"))"
        let listener = try Self.listener("\(directory)/bus")
        defer { close(listener) }
        let log = open("\(directory)/bus.log", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        var pair: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard log >= 0, socketpair(AF_UNIX, kind, 0, &pair) == 0 else { throw Self.failure("no descriptors") }
        controller = pair[0]
        defer { for descriptor in [pair[1], log] { close(descriptor) } }
        do throws(RelayError) {
            process = try ChildProcess(
                try Self.program(),
                [
                    "--controller", "3", "--machine-id", String(repeating: "0", count: 31) + "1", "--max-bytes",
                    "\(bytes)", "--max-matches", "1000000",
                ], descriptors: [(ours: pair[1], childs: 3), (ours: log, childs: 2)])
        } catch {
            close(pair[0])
            throw error
        }
        // From here on `deinit` closes and ends it.
        var patience = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(controller, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        try Self.say(Self.greeting, to: controller)
        try Self.say(Self.addListener(), to: controller, descriptor: listener)
        try Self.awaitAnswer(from: controller)
    }
    deinit {
        process.terminate()
        close(controller)
    }

    /// The program in `PATH`; else the one that scripts/install-dependencies has unpacked, in `debian` of one of the
    /// folders around the test bundle: the package must not be installed for a test, since it would become the system's
    /// bus.
    private static func program() throws(RelayError) -> String {
        var places = getenv("PATH").map { String(cString: $0).split(separator: ":").map(String.init) } ?? []
        var folder = Substring(Programs.folder)
        while let slash = folder.lastIndex(of: "/") {
            places.append("\(folder)/debian/usr/bin")
            folder = folder[..<slash]
        }
        places += ["\(folder)/debian/usr/bin", ".build/debian/usr/bin"]
        if let place = places.first(where: { access("\($0)/dbus-broker", X_OK) == 0 }) { return "\(place)/dbus-broker" }
        throw RelayError(
            .notFound, "no dbus-broker in PATH or .build/debian: scripts/install-dependencies test unpacks it")
    }
    private static func failure(_ text: String) -> RelayError {
        let cause = SystemError(errno)
        return RelayError(.unavailable, "dbus-broker: \(text): \(cause)", cause: cause)
    }
    private static func listener(_ path: String) throws(RelayError) -> Int32 {
        guard let descriptor = UnixSocket.listening(at: path) else { throw failure("cannot listen at \(path)") }
        return descriptor
    }

    // MARK: The controller's side

    /// Authentication, in the form of all of D-Bus: the user's id in digits, in hexadecimal.
    private static var greeting: [UInt8] {
        let id = "\(getuid())".utf8.map { byte in "3\(byte - UInt8(ascii: "0"))" }.joined()
        return Array("\0AUTH EXTERNAL \(id)\r\nNEGOTIATE_UNIX_FD\r\nBEGIN\r\n".utf8)
    }
    /// The policy's form (dbus-broker, src/bus/policy.c): for all users, users of a kind, SELinux, AppArmor, the bus's
    /// kind.
    private static let batch = "(bta(btbs)a(btssssuutt)a(btssssuutt))"
    private static func addListener() throws(RelayError) -> [UInt8] {
        let policy = "(a(u\(batch))a(buu\(batch))a(ss)bs)"
        var header = MessageHeader.methodCall(
            path: "/org/bus1/DBus/Broker", interface: "org.bus1.DBus.Broker", member: "AddListener", destination: nil,
            signature: try Signature("ohv"))
        header.unixFDs = 1
        let transfer: [DBusValue] =
            [.boolean(true), .uint64(1)] + (1...4).map { _ in .string("") }
            + [.uint32(0), .uint32(0), .uint64(0), .uint64(.max)]
        let owning = DBusValue.structure([.boolean(true), .uint64(1), .boolean(true), .string("")])
        let everything = DBusValue.structure([
            .boolean(true), .uint64(1), .array(owning.type, [owning]),
            .array(DBusValue.structure(transfer).type, [.structure(transfer)]),
            .array(DBusValue.structure(transfer).type, [.structure(transfer)]),
        ])
        let everybody = DBusValue.structure([.uint32(.max), everything])
        let range = try Signature("(buu\(batch))").types[0]
        let names = try Signature("(ss)").types[0]
        let value = DBusValue.structure([
            .array(everybody.type, [everybody]), .array(range, []), .array(names, []), .boolean(false),
            .string("session"),
        ])
        if value.type.description != policy { throw RelayError(.internalFailure, "the policy is a \(value.type)") }
        var writer = WireWriter()
        let start = try header.write(into: &writer, serial: 1)
        try DBusValue.encode(
            [.objectPath("/org/bus1/DBus/Listener/0"), .unixFD(0), .variant(value)], into: &writer)
        try MessageHeader.finish(&writer, bodyStart: start)
        return writer.bytes
    }
    private static func say(_ bytes: [UInt8], to socket: Int32, descriptor: Int32? = nil) throws(RelayError) {
        // The kernel's form of one descriptor (cmsg(3)): the length of what counts, level, kind, the number, padding.
        var control = [UInt64](repeating: 0, count: 3)
        control.withUnsafeMutableBytes { control in
            control.storeBytes(of: 20, as: UInt64.self)
            control.storeBytes(of: SOL_SOCKET, toByteOffset: 8, as: Int32.self)
            control.storeBytes(of: Int32(SCM_RIGHTS), toByteOffset: 12, as: Int32.self)
            control.storeBytes(of: descriptor ?? -1, toByteOffset: 16, as: Int32.self)
        }
        var bytes = bytes
        let sent = bytes.withUnsafeMutableBytes { bytes in
            control.withUnsafeMutableBytes { control in
                var part = iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
                return withUnsafeMutablePointer(to: &part) { part in
                    var message = msghdr()
                    (message.msg_iov, message.msg_iovlen) = (part, 1)
                    // Both point to what lives until the call has returned.
                    if descriptor != nil {
                        (message.msg_control, message.msg_controllen) = (control.baseAddress, control.count)
                    }
                    return sendmsg(socket, &message, Int32(MSG_NOSIGNAL))
                }
            }
        }
        if sent != bytes.count { throw failure("cannot tell it where to listen") }
    }
    /// Two lines that let us in, then the answer to the call.
    private static func awaitAnswer(from socket: Int32) throws(RelayError) {
        var answer: [UInt8] = []
        let agreed = Array("AGREE_UNIX_FD\r\n".utf8)
        while true {
            var piece = [UInt8](repeating: 0, count: 4_096)
            let count = recv(socket, &piece, piece.count, 0)
            if count <= 0 { throw failure("no answer, only '\(String(decoding: answer.prefix(200), as: UTF8.self))'") }
            answer += piece.prefix(count)
            let lines = answer.indices.first { answer[$0...].starts(with: agreed) }
            guard let lines, answer.count >= lines + agreed.count + 16 else { continue }
            let message = answer[(lines + agreed.count)...]
            if message[message.startIndex + 1] == MessageHeader.Kind.methodReturn.rawValue { return }
            throw failure("refused to listen: '\(String(decoding: message.prefix(400), as: UTF8.self))'")
        }
    }
}
