import Glibc
import RelayCore
import RelayTestKit
import Testing

/// Somebody with a home, a session bus and a service that runs as the page's unit says: types the page's commands.
final class Operator: Sendable {
    let bus: PrivateBus
    let page: OperatingPage
    private let home: TestFolder
    private let environment: [String: String]

    init() async throws {
        (bus, home, page) = (try PrivateBus(), try TestFolder(), try OperatingPage())
        environment = Programs.environment([
            "HOME": home.path, "DBUS_SESSION_BUS_ADDRESS": bus.address, "PROGRAMS": Programs.folder,
            "PATH": "\(home.path)/bin:\(Programs.folder):/usr/bin:/bin",
        ])
        for folder in ["bin", ".config/systemd/user", ".local/share/dbus-1/services"] {
            let parts = folder.split(separator: "/")
            for end in 1...parts.count { mkdir("\(home.path)/\(parts.prefix(end).joined(separator: "/"))", 0o700) }
        }
        for file in page.files { try home.write(file.text, to: file.name) }
        try home.write(Self.systemctl, to: "bin/systemctl")
        chmod(home.path + "/bin/systemctl", 0o700)
        try await succeed("systemctl --user start relay-service")
    }
    /// Does with the unit what systemd would: there is none in a test.
    private static let systemctl = """
        #!/bin/bash
        set -eu
        unit=$HOME/.config/systemd/user/relay-service.service
        [ "$1" = --user ]
        case $2 in
        daemon-reload) ;;
        start)
            command=$(sed -n 's/^ExecStart=//p' "$unit" | sed "s|%h|$HOME|g; s|/usr/bin/|$PROGRAMS/|")
            $command >>"$HOME/service.log" 2>&1 </dev/null &
            echo $! >"$HOME/service.pid"
            until busctl --user call org.freedesktop.DBus / org.freedesktop.DBus NameHasOwner s \\
                "$(sed -n 's/^BusName=//p' "$unit")" | grep -q true; do
                # A process that ended, and was not waited for, has no program.
                [ -e /proc/$!/exe ] || { cat "$HOME/service.log" >&2; exit 1; }
                sleep 0.02
            done ;;
        stop)
            id=$(cat "$HOME/service.pid")
            kill "$id"
            while [ -e "/proc/$id/exe" ]; do sleep 0.02; done ;;
        esac

        """

    /// Runs lines of shell, as the page's reader would.
    func run(_ lines: String) async throws -> RunningProgram.Outcome {
        try await RunningProgram.run("/bin/bash", ["-euo", "pipefail", "-c", lines], environment: environment)
    }
    /// Runs lines that must succeed, and say nothing on stderr; returns what they print.
    @discardableResult
    func succeed(_ lines: String) async throws -> [String] {
        let outcome = try await run(lines)
        try #require(outcome.code == 0 && outcome.errors.isEmpty, "\(lines)\n\(outcome)")
        return outcome.output
    }
    /// Runs a block of the page.
    @discardableResult
    func follow(_ block: String) async throws -> [String] { try await succeed(page.command(block)) }

    func order(_ label: String) async throws -> [String] {
        try await succeed("relay-cli call OrderBox label=\(label) capacity=10")
    }
    /// The labels of all boxes, from the service.
    func boxes() async throws -> [String] {
        let lines = try await succeed("relay-cli --json call Contents")
        return lines.joined().split(separator: "\"capacity\":10,\"title\":\"").dropFirst().compactMap {
            $0.split(separator: "\"").first.map(String.init)
        }
    }
    /// The first column of a query on a file, a path below the home.
    func query(_ file: String, _ statement: String) async throws -> [String] {
        try await succeed("sqlite3 -readonly ~/\(file) \"\(statement)\"")
    }
    func end() async throws { try await succeed("systemctl --user stop relay-service") }
}
