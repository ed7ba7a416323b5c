package import RelayCore
import Glibc

/// A private `dbus-daemon` at a socket of its own, which ends with this process.
package final class BusDaemon: Sendable {
    /// How much a daemon holds for a slow receiver, and how many of whatever it admits.
    package struct Limits: Sendable {
        let text: String
        /// What the session bus allows, as dbus-daemon comes with it: 1 GB, and descriptors without end.
        package static let session = Self(
            text: """
                <limit name="max_incoming_bytes">1000000000</limit>
                <limit name="max_incoming_unix_fds">250000000</limit>
                <limit name="max_outgoing_bytes">1000000000</limit>
                <limit name="max_outgoing_unix_fds">250000000</limit>
                <limit name="max_message_size">1000000000</limit>
                <limit name="service_start_timeout">120000</limit>
                <limit name="auth_timeout">240000</limit>
                <limit name="pending_fd_timeout">150000</limit>
                <limit name="max_completed_connections">100000</limit>
                <limit name="max_incomplete_connections">10000</limit>
                <limit name="max_connections_per_user">100000</limit>
                <limit name="max_pending_service_starts">10000</limit>
                <limit name="max_names_per_connection">50000</limit>
                <limit name="max_match_rules_per_connection">50000</limit>
                <limit name="max_replies_per_connection">50000</limit>
                """)
        /// What dbus-daemon has built in, as the system bus: 127 MiB, and 64 descriptors, for a slow receiver.
        package static let builtIn = Self(text: "")
        /// A daemon that takes so many match rules of a connection.
        package static func matchRules(_ count: Int) -> Self {
            Self(text: "<limit name=\"max_match_rules_per_connection\">\(count)</limit>")
        }
        /// A daemon that drops what a receiver does not take soon.
        package static func outgoing(_ bytes: Int) -> Self {
            Self(text: "<limit name=\"max_outgoing_bytes\">\(bytes)</limit>")
        }
    }

    /// What to connect to.
    package let address: String
    package let process: ChildProcess

    /// Starts a daemon whose socket is `directory`/bus. The folder must exist, and be the caller's alone. What the
    /// daemon says goes to `directory`/bus.log, and into the error when it does not come up.
    ///
    /// - Parameters:
    ///   - policy: XML of additional policies, which win over those that let everything pass.
    /// Throws `Conflict` when a bus runs there already, `NotFound` when dbus-daemon is not installed, `Unavailable`
    /// when it does not come up within ten seconds.
    package init(directory: String, limits: Limits = .session, policy: String = "") throws(RelayError) {
        let socket = "\(directory)/bus"
        let configuration = "\(directory)/bus.conf"
        let log = "\(directory)/bus.log"
        address = "unix:path=\(Bus.escaped(socket))"
        // Two that start at once: the later waits, then finds the earlier's bus. Else it would take its socket away.
        let lock = try Self.file(directory, O_RDONLY | O_DIRECTORY)
        defer { close(lock) }
        while flock(lock, LOCK_EX) != 0 && errno == EINTR {}
        if Self.isAnswering(socket) {
            throw RelayError(.conflict, "a bus runs at \(socket) already: use it with --bus \(address)")
        }
        try Self.write(Self.configuration(address, limits, policy), to: configuration)
        let output = try Self.file(log, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW)
        defer { close(output) }
        let (reading, writing): (Int32, Int32)
        do throws(SystemError) { (reading, writing) = try SystemPipe.open() } catch {
            throw RelayError(.unavailable, "no pipe for dbus-daemon: \(error)", cause: error)
        }
        defer { close(reading) }
        do throws(RelayError) {
            process = try ChildProcess(
                "dbus-daemon", ["--config-file=\(configuration)", "--nofork", "--nopidfile", "--print-address=3"],
                descriptors: [(ours: writing, childs: 3), (ours: output, childs: 2)])
        } catch {
            close(writing)
            throw error
        }
        close(writing)
        guard Self.readsLine(reading, withinMilliseconds: 10_000) else {
            process.terminate()
            throw RelayError(.unavailable, "dbus-daemon did not come up at \(socket): \(Self.start(of: output))")
        }
    }
    /// Ends the daemon, and waits for that.
    package func stop() async {
        process.terminate()
        _ = await process.waitForExit()
    }

    private static func configuration(_ address: String, _ limits: Limits, _ policy: String) -> String {
        """
        <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
         "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
        <busconfig>
          <type>session</type>
          <listen>\(address)</listen>
          <auth>EXTERNAL</auth>
          <policy context="default">
            <allow send_destination="*" eavesdrop="true"/>
            <allow eavesdrop="true"/>
            <allow own="*"/>
          </policy>
          \(policy)
          \(limits.text)
        </busconfig>

        """
    }
    private static func file(_ path: String, _ flags: Int32) throws(RelayError) -> Int32 {
        let file = open(path, flags | O_CLOEXEC, 0o600)
        if file >= 0 { return file }
        throw RelayError(.unavailable, "cannot open \(path): \(SystemError(errno))", cause: SystemError(errno))
    }
    private static func write(_ text: String, to path: String) throws(RelayError) {
        let file = try file(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW)
        defer { close(file) }
        var text = text
        let written = text.withUTF8 { Glibc.write(file, $0.baseAddress, $0.count) == $0.count }
        if !written {
            throw RelayError(.unavailable, "cannot write \(path): \(SystemError(errno))", cause: SystemError(errno))
        }
    }
    private static func start(of file: Int32) -> String {
        var bytes = [UInt8](repeating: 0, count: 2_000)
        let count = pread(file, &bytes, bytes.count, 0)
        let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        let lines = text.split(whereSeparator: \.isNewline)
        return lines.isEmpty ? "it said nothing" : lines.joined(separator: "; ")
    }
    private static func readsLine(_ descriptor: Int32, withinMilliseconds timeout: Int32) -> Bool {
        let deadline = MonotonicClock.deadline(after: .milliseconds(timeout))
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        var ready: Int32
        repeat {
            ready = poll(&waiting, 1, MonotonicClock.milliseconds(until: deadline))
        } while ready < 0 && errno == EINTR
        var byte: UInt8 = 0
        return ready == 1 && read(descriptor, &byte, 1) == 1
    }
    /// Whether somebody listens at a socket, be it a bus or not.
    package static func isAnswering(_ path: String) -> Bool {
        // Too many wait already: then there is somebody for whom.
        guard let descriptor = UnixSocket.connected(to: path, isBlocking: false) else { return errno == EAGAIN }
        close(descriptor)
        return true
    }
}
