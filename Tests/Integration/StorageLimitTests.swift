import Glibc
import RelayCore
import RelayTestKit
import TestTraits
import Testing

/// `relay-service` where the kernel refuses its writes: by a limit of its process, and by a mount.
@Suite("relay-service on a disk that refuses writes", .heavy, .tags(.g5, .g6)) struct StorageLimitTests {
    /// Whether this user may mount in namespaces of its own.
    static let mayMount: Bool = system("unshare -m mount -t tmpfs none /mnt 2>/dev/null") == 0

    @Test("a limit of a file's size: refused as StorageFull, shown everywhere, and over when the limit is lifted")
    func fileSize() async throws {
        let (bus, state, socket) = (try PrivateBus(), try TestFolder(), try NotifySocket())
        let program = try RunningProgram(
            Programs.service, ["--bus", bus.address, "--state-directory", state.path],
            environment: Programs.environment(["NOTIFY_SOCKET": socket.path]))
        #expect(await eventually { socket.count("READY=1") == 1 })
        func cli(_ arguments: String...) async throws -> RunningProgram.Outcome {
            try await RunningProgram.run(
                Programs.cli, ["--bus", bus.address] + arguments, environment: Programs.environment())
        }
        func limit(_ bytes: String) async throws {
            let outcome = try await RunningProgram.run(
                "prlimit", ["--pid", "\(program.processID)", "--fsize=\(bytes):unlimited"])
            #expect(outcome.code == 0, "\(outcome)")
        }
        #expect(try await cli("call", "OrderBox", "label=Books", "capacity=10").code == 0)
        try await limit("4096")
        for _ in 0..<3 {
            let refused = try await cli("call", "OrderBox", "label=Plates", "capacity=10")
            #expect(refused.code == 74, "\(refused)")
            #expect(
                refused.errors.joined().contains(
                    "the service's journal or its log has reached the largest size that it may have: nothing of "
                        + "OrderBox was done; raise the limit of a file's size"), "\(refused)")
        }
        let contents = try await cli("--json", "call", "Contents")
        #expect(contents.code == 0 && contents.output.joined().contains("Books"), "\(contents)")
        #expect(!contents.output.joined().contains("Plates"))
        let status =
            "STATUS=serving org.eventrelay.Service1; commits are refused: \(state.path)/journal.sqlite or its log "
            + "has reached the largest size that it may have"
        #expect(await eventually { socket.lines.contains { $0.contains(status) } }, "\(socket.lines)")
        #expect(try await cli("status").output.contains { $0.contains("refused: File too large") })
        let doctor = try await cli("doctor")
        #expect(
            doctor.code == 1 && doctor.output.contains { $0.contains("refuses commits: File too large") }, "\(doctor)")

        try await limit("unlimited")
        #expect(await eventually { (try? await cli("call", "OrderBox", "label=Cups", "capacity=10").code) == 0 })
        #expect(
            await eventually {
                socket.lines.last { $0.hasPrefix("STATUS=") } == "STATUS=serving org.eventrelay.Service1"
            }, "\(socket.lines)")
        #expect(!(try await cli("status").output.contains { $0.contains("refused: ") }))
        program.signal(SIGTERM)
        let end = await program.outcome()
        #expect(end.code == 0, "\(end)")
        #expect(end.errors.contains { $0.contains("StorageFull") && $0.contains("LimitFSIZE=") }, "\(end)")
    }
    @Test(
        "a file system that is read-only at the start: an end that a service manager repeats, unlike a missing right",
        .enabled(if: mayMount, "mounting is not allowed here; StorageTroubleTests have the error"))
    func readOnlyStart() async throws {
        let folder = try TestFolder()
        let script = """
            mount -t tmpfs none "$1" && mkdir -m 700 "$1/state" && mount -o remount,ro "$1" &&
            exec "$2" --bus unix:path=/nonexistent/bus --state-directory "$1/state"
            """
        let outcome = try await RunningProgram.run(
            "unshare", ["-m", "/bin/sh", "-c", script, "sh", folder.path, Programs.service],
            environment: Programs.environment())
        #expect(outcome.code == 74, "\(outcome)")
        #expect(outcome.errors.joined().contains("Read-only file system"), "\(outcome)")
    }
}
