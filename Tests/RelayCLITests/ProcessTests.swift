import Foundation
import RelayTool
import TestTraits
import Testing

@Suite("The program as a process, on a machine without a bus", .heavy)
struct ProcessTests {
    /// Beside the test bundle.
    private static let program: String = {
        let bundle = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return (bundle as NSString).deletingLastPathComponent + "/relay-cli"
    }()

    /// Runs a line of shell in which `$cli` is the program; the environment has nothing of ours.
    private func shell(_ line: String, environment: [String: String] = [:]) async throws -> (
        code: Int32, output: String, errors: String
    ) {
        try await WaitingThread.run { Result { try Self.run(line, environment) } }.value.get()
    }
    /// Waits for the process, so not on a task's thread.
    private static func run(_ line: String, _ environment: [String: String]) throws -> (
        code: Int32, output: String, errors: String
    ) {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("relay-cli-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(at: folder) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", line]
        process.environment = ["PATH": "/usr/bin:/bin", "TMPDIR": folder.path, "cli": program]
            .merging(environment) { $1 }
        let (output, errors) = (Pipe(), Pipe())
        (process.standardOutput, process.standardError) = (output, errors)
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let message = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationReason == .exit, "\(line): \(message)")
        return (process.terminationStatus, text, message)
    }

    @Test(
        "exit codes, and one line that says why",
        arguments: [
            ("$cli list", 69, "relay-service --own-bus"), ("$cli watch", 69, "DBUS_SESSION_BUS_ADDRESS"),
            ("$cli call X", 69, "no bus"), ("$cli --bus unix:path=/nonexistent/bus list", 69, "/nonexistent/bus"),
            ("$cli --bus unix:path=/nonexistent/bus watch", 69, "/nonexistent/bus"),
            ("$cli --bus nonsense:x=y watch", 69, "nonsense"),
            ("$cli", 64, "no command"), ("$cli frobnicate", 64, "frobnicate"), ("$cli watch --count 0", 64, "'0'"),
            ("$cli call X novalue", 64, "novalue"), ("$cli call X a=$(printf '\\377')", 64, "UTF-8"),
            ("$cli --version >/dev/full", 74, "No space left"),
        ] as [(String, Int32, String)])
    func codes(line: String, code: Int32, message: String) async throws {
        let result = try await shell(line)
        #expect(result.code == code)
        #expect(result.output.isEmpty)
        #expect(result.errors.hasPrefix("relay-cli: ") && result.errors.contains(message), "\(result.errors)")
        #expect(result.errors.split(separator: "\n").count == 1)
    }

    @Test("help and version go to stdout and succeed", arguments: ["--help", "help call", "list --help", "--version"])
    func help(arguments: String) async throws {
        let result = try await shell("$cli \(arguments)")
        #expect(result.code == 0 && result.errors.isEmpty && !result.output.isEmpty)
    }

    @Test("an output whose reader has gone is a quiet end")
    func goneReader() async throws {
        let result = try await shell("($cli --help; echo $? >&2) | true")
        #expect(result.code == 0 && result.errors == "0\n", "\(result)")
    }
    @Test("an output that is closed is one that cannot be written to, for every verb that has something to write")
    func closedOutput() async throws {
        for (line, code) in [("--help", 74), ("help export", 74), ("--version", 74), ("frobnicate", 64)]
            as [(String, Int32)]
        {
            let result = try await shell("$cli \(line) >&-")
            #expect(result.code == code, "\(line)")
            #expect(result.errors.contains("Bad file descriptor") == (code == 74), "\(line): \(result.errors)")
            let mute = try await shell("$cli \(line) <&- >&- 2>&-")
            #expect(mute.code == code && mute.errors.isEmpty, "\(line): \(mute.errors)")
        }
    }

    @Test("what is typed cannot act on the terminal through a message")
    func messages() async throws {
        let result = try await shell("$cli \"$(printf '\\033]0;owned\\007')\"")
        #expect(result.code == 64)
        #expect(!result.errors.contains("\u{1B}") && result.errors.contains("\\u001b"))
    }

    @Test("POSIXLY_CORRECT does not end the options at the first operand")
    func posixlyCorrect() async throws {
        let result = try await shell(
            "$cli list --bus unix:path=/nonexistent/bus", environment: ["POSIXLY_CORRECT": "1"])
        #expect(result.code == 69)
    }

    @Test("a folder of the own bus that others can open is not trusted")
    func untrustedFolder() async throws {
        let result = try await shell("mkdir -m 755 $TMPDIR/eventrelay-$(id -u) && $cli list")
        #expect(result.code == 69)
        #expect(result.errors.contains("is not used"))
    }
}
