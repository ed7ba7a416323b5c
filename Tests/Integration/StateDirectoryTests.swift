import Glibc
import RelayCore
import RelayTestKit
import TestTraits
import Testing

/// Where `relay-service` keeps its journal, and what it says when it cannot.
@Suite("The state directory of relay-service", .heavy, .tags(.g8)) struct StateDirectoryTests {
    private func refusal(_ directory: String) async throws -> RunningProgram.Outcome {
        try await RunningProgram.run(
            Programs.service, ["--bus", "unix:path=/nonexistent/bus", "--state-directory", directory],
            environment: Programs.environment())
    }
    /// What was said, without the time.
    private func message(_ outcome: RunningProgram.Outcome) -> String {
        outcome.errors.map { $0.split(separator: " ").dropFirst().joined(separator: " ") }.joined(separator: "\n")
    }

    @Test("a state directory whose parent is missing is refused, and not made")
    func missing() async throws {
        let folder = try TestFolder()
        let outcome = try await refusal(folder.path + "/typo/state")
        #expect(outcome.code == 73, "\(outcome)")
        #expect(
            message(outcome)
                == "error: the state directory \(folder.path)/typo/state cannot be made: No such file or directory; "
                + "name another with --state-directory DIR")
        #expect(folder.names.isEmpty)
    }

    @Test("a file instead of a state directory is refused, and left as it is")
    func file() async throws {
        let folder = try TestFolder()
        try folder.write("mine", to: "state")
        let outcome = try await refusal(folder.path + "/state")
        #expect(outcome.code == 73, "\(outcome)")
        #expect(
            message(outcome) == "error: the state directory \(folder.path)/state cannot be used: Not a directory; "
                + "name another with --state-directory DIR")
        #expect(folder.names == ["state"])
    }

    @Test("a state directory that cannot be written is refused")
    func unwritable() async throws {
        // /proc refuses everybody, the superuser included.
        let made = try await refusal("/proc/relay")
        #expect(made.code == 73, "\(made)")
        #expect(
            message(made) == "error: the state directory /proc/relay cannot be made: No such file or directory; "
                + "name another with --state-directory DIR")
    }

    @Test("without a folder for it in the options or the environment it says what to do")
    func none() async throws {
        let outcome = try await RunningProgram.run(Programs.service, ["--own-bus"], environment: Programs.environment())
        #expect(outcome.code == 64, "\(outcome)")
        #expect(
            message(outcome)
                == "error: no folder for the journal: none of STATE_DIRECTORY, XDG_STATE_HOME and HOME has an absolute path; "
                + "name one with --state-directory DIR")
    }
}
