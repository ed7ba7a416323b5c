import Glibc
import RelayCore
import RelayTestKit
import Synchronization

/// A nats-server with JetStream, in a folder of its own, that a test kills and starts again. Ends with this value.
package final class NatsServer: Sendable {
    package enum Release: String, CaseIterable, Sendable {
        /// Debian's, which syncs every two minutes.
        case debian
        /// One that can sync each message before it answers.
        case recent

        /// Where Debian has it, or `scripts/install-dependencies` has unpacked it: beside what was built, in a folder above
        /// the programs.
        var program: String {
            let name = self == .debian ? "sbin/nats-server" : "bin/nats-server-2.14"
            var folder = Programs.folder[...]
            while let end = folder.lastIndex(of: "/") {
                folder = folder[..<end]
                let unpacked = "\(folder)/debian/usr/\(name)"
                if access(unpacked, X_OK) == 0 { return unpacked }
            }
            return "/usr/\(name)"
        }
    }
    private let release: Release
    private let folder: TestFolder
    private let port: UInt16
    private let name: String
    /// How much it may store.
    private let room = Mutex("4GB")
    private let running = Mutex<RunningProgram?>(nil)
    /// Lines of its configuration beyond the usual ones.
    private let more: [String]
    /// Whether it syncs each message.
    private let syncs: Bool

    package convenience init(_ release: Release, syncing syncs: Bool = false, _ more: String...) async throws {
        try self.init(release, named: "test", syncing: syncs, more)
        try await start()
    }
    private init(_ release: Release, named name: String, syncing syncs: Bool, _ more: [String]) throws {
        (self.release, self.name, self.more, self.syncs) = (release, name, more, syncs)
        (folder, port) = (try TestFolder(), try Self.freePort())
    }
    /// Several that hold the same streams.
    package static func cluster(of count: Int, _ release: Release) async throws -> [NatsServer] {
        let ports = try (0..<count).map { _ in try freePort() }
        let routes = ports.map { "nats://127.0.0.1:\($0)" }.joined(separator: ", ")
        let servers = try ports.enumerated().map { index, port in
            try NatsServer(
                release, named: "test\(index)", syncing: release == .recent,
                ["cluster { name: tests, listen: 127.0.0.1:\(port), routes: [\(routes)] }"])
        }
        for server in servers { try await server.start() }
        return servers
    }
    /// From its next start on.
    package func limit(to room: String) { self.room.withLock { $0 = room } }
    package var url: String { "nats://127.0.0.1:\(port)" }
    private var store: String { "\(folder.path)/store" }

    package func start() async throws {
        let configuration =
            [
                "host: 127.0.0.1", "port: \(port)", "server_name: \(name)", "max_payload: 2MB",
                "jetstream { store_dir: \"\(store)\"\n max_file: \(room.withLock { $0 })\n \(syncs ? "sync_interval: always" : "") }",
            ] + more
        try folder.write(configuration.joined(separator: "\n") + "\n", to: "server.conf")
        let program = try RunningProgram(release.program, ["-c", "\(folder.path)/server.conf"])
        running.withLock { $0 = program }
        try await program.line(containing: "Server is ready")
    }
    package func end(_ signal: Int32 = SIGKILL) async throws {
        guard let program = running.withLock({ $0.take() }) else { return }
        program.signal(signal)
        _ = await program.outcome()
    }
    /// Goes on, or stands still.
    package func signal(_ number: Int32) { running.withLock { $0 }?.signal(number) }
    /// While it does not run: what it has stored, under a name.
    package func backUp(_ name: String) async throws { try await copy(store, "\(folder.path)/\(name)") }
    package func restore(_ name: String) async throws { try await copy("\(folder.path)/\(name)", store) }
    private func copy(_ from: String, _ to: String) async throws {
        let script = "rm -rf \"$1\" && cp -a \"$0\" \"$1\""
        let outcome = try await RunningProgram.run("/bin/sh", ["-c", script, from, to])
        if outcome.code != 0 { throw RelayError(.internalFailure, "\(outcome)") }
    }

    /// One that nobody has, and that no connection is given by itself: a client that tries a port again and again, whose
    /// server is away, would once get it as its own.
    private static func freePort() throws -> UInt16 {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        for _ in 0..<1_000 {
            let port = UInt16.random(in: 20_000..<32_000)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = inet_addr("127.0.0.1")
            address.sin_port = port.bigEndian
            // The address is used during the call.
            let status = withUnsafePointer(to: &address) { address in
                address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    bind(socket, address, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            if status == 0 { return port }
        }
        throw SystemError(errno)
    }
}
