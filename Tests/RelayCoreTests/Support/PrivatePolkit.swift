import Glibc
import RelayTestKit
import Synchronization

@testable import RelayCore

/// Debian's polkitd on a bus of a test's own, with actions and rules of the test's own.
///
/// Its paths and its user are built in. So it runs in a mount namespace of its own: folders and accounts of the test lie
/// over the machine's there, and nothing of the machine changes. That takes root.
final class PrivatePolkit: Sendable {
    /// Why it cannot run here; nil if it can.
    static let obstacle: String? = {
        if geteuid() != 0 { return "needs root, for a mount namespace and other users" }
        if program == nil { return "no polkitd: scripts/install-dependencies test unpacks it" }
        return nil
    }()
    /// Installed, or unpacked by scripts/install-dependencies, and the folder of its libraries then.
    private static let program: (path: String, libraries: String?)? = {
        let installed = "/usr/lib/polkit-1/polkitd"
        if access(installed, X_OK) == 0 { return (installed, nil) }
        var folders = [".build/debian"]
        var folder = Substring(Programs.folder)
        while let slash = folder.lastIndex(of: "/") {
            folders.append("\(folder)/debian")
            folder = folder[..<slash]
        }
        return folders.lazy.map { ("\($0)/usr/lib/polkit-1/polkitd", "\($0)/usr/lib/x86_64-linux-gnu") }
            .first { access($0.0, X_OK) == 0 }
    }()
    private let folder: TestFolder
    private let process: RunningProgram
    let bus: PrivateBus
    var system: Bus { .system(at: bus.address) }

    /// - Parameter actions: the files of the actions, by name.
    init(actions: [String: String], rules: String) async throws {
        guard let (program, libraries) = Self.program else {
            throw RelayError(.notFound, Self.obstacle ?? "no polkitd")
        }
        bus = try PrivateBus(limits: .session, policy: "<policy context=\"mandatory\"><allow user=\"*\"/></policy>")
        guard chmod(bus.directory, 0o755) == 0, chmod("\(bus.directory)/bus", 0o666) == 0 else {
            throw RelayError(.unavailable, "the bus cannot be opened to others")
        }
        folder = try TestFolder()
        let path = folder.path
        chmod(path, 0o755)
        for part in [
            "etc", "etc/polkit-1", "etc/polkit-1/rules.d", "share", "share/polkit-1", "share/polkit-1/actions",
        ] {
            mkdir("\(path)/\(part)", 0o755)
        }
        for part in ["actions", "rules"] { mkdir("\(path)/\(part)", 0o755) }
        for (name, text) in actions { try Self.write(text, to: "\(path)/actions/\(name)") }
        try Self.write(rules, to: "\(path)/rules/10-test.rules")
        // Its user, where the package is not installed: with the numbers of one that each Debian has, since dbus-daemon turns away
        // a user whom it does not know, and sees the machine's accounts.
        let script = """
            set -e
            d="$1" program="$2"
            cp /etc/passwd /etc/group "$d/etc/"
            grep -q '^polkitd:' "$d/etc/passwd" || echo 'polkitd:x:1:1::/:/usr/sbin/nologin' >> "$d/etc/passwd"
            grep -q '^polkitd:' "$d/etc/group" || echo 'polkitd:x:1:' >> "$d/etc/group"
            mount -t overlay overlay -o "lowerdir=$d/share:/usr/share" /usr/share
            mount -t overlay overlay -o "lowerdir=$d/etc:/etc" /etc
            mount --bind "$d/actions" /usr/share/polkit-1/actions
            mount --bind "$d/rules" /etc/polkit-1/rules.d
            exec "$program" --no-debug
            """
        var environment = ["DBUS_SYSTEM_BUS_ADDRESS": bus.address, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"]
        environment["LD_LIBRARY_PATH"] = libraries
        process = try RunningProgram(
            "unshare", ["-m", "--propagation", "private", "sh", "-c", script, "sh", path, program],
            environment: environment)
        let watch = try await BusStranger.join(bus.bus)
        while try await !watch.hasOwner(Polkit.name) {
            if process.exit != nil {
                let outcome = await process.outcome()
                throw RelayError(.unavailable, "polkitd does not run here: \(outcome)")
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }
    deinit { process.signal(SIGKILL) }
    func stop() async { _ = await process.terminate() }
    /// Other rules, from a moment later on.
    func rules(_ text: String) throws { try Self.write(text, to: "\(folder.path)/rules/10-test.rules") }

    /// By renaming, so that nobody reads half of it.
    private static func write(_ text: String, to path: String) throws {
        let file = open("\(path).new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard file >= 0 else { throw SystemError(errno) }
        defer { close(file) }
        var text = text
        let isWritten = text.withUTF8 { Glibc.write(file, $0.baseAddress, $0.count) == $0.count }
        guard isWritten, rename("\(path).new", path) == 0 else { throw SystemError(errno) }
    }
}
