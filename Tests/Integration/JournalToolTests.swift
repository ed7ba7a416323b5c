import Foundation
import Glibc
import RelayCore
import RelayTestKit
import TestTraits
import Testing

/// `relay-service check` and `relay-service backup FILE`, beside a service and without one.
@Suite("relay-service check and backup, as processes", .heavy, .tags(.g5, .g8)) struct JournalToolProgramTests {
    private func tool(_ arguments: String...) async throws -> RunningProgram.Outcome {
        try await RunningProgram.run(Programs.service, arguments, environment: Programs.environment())
    }
    private func errors(_ outcome: RunningProgram.Outcome) -> String { outcome.errors.joined(separator: "\n") }

    @Test("while a service runs and publishes, both work, and a backup is a journal that another service serves")
    func beside() async throws {
        let service = try await LiveService.start()
        let publishing = Task {
            var count = 0
            while !Task.isCancelled {
                let order = try await service.orderBox("Box")
                if order.code == 0 { count += 1 }
            }
            return count
        }
        #expect(await eventually { (try? await service.runCLI("call", "Contents").code) == 0 })
        let folder = try TestFolder()
        let check = try await tool("check", "--state-directory", service.state.path)
        #expect(check.code == 0 && check.errors.isEmpty, "\(check)")
        let told = #/.*/journal\.sqlite is sound: \d+ events? of 1 interface, \d+ bytes/#
        #expect(check.output.count == 1 && check.output.first?.wholeMatch(of: told) != nil, "\(check)")
        let file = folder.path + "/backup.sqlite"
        let backup = try await tool("backup", file, "--state-directory", service.state.path)
        #expect(backup.code == 0 && backup.errors.isEmpty && backup.output.count == 1, "\(backup)")
        #expect(
            backup.output.first?.wholeMatch(of: #/.*: \d+ events? of 1 interface, \d+ bytes; copied and checked/#)
                != nil,
            "\(backup)")
        publishing.cancel()
        let published = try await publishing.value
        #expect(published > 0)
        #expect(try await tool("check", file).code == 0)
        // It replaces nothing.
        let again = try await tool("backup", file, "--state-directory", service.state.path)
        #expect(again.code == 64 && again.output.isEmpty)
        #expect(
            errors(again).hasSuffix("error: \(file) is there already: a backup replaces nothing; name another file"),
            "\(again)")
        // Restored as the page says, into a directory of its own.
        service.program.signal(SIGTERM)
        _ = await service.program.outcome()
        #expect(unlink(service.state.path + "/journal.sqlite") == 0)
        for suffix in ["-wal", "-shm"] { unlink(service.state.path + "/journal.sqlite" + suffix) }
        #expect(rename(file, service.state.path + "/journal.sqlite") == 0)
        try await service.restart()
        #expect(try await service.runCLI("call", "Contents").code == 0)
        #expect(try await service.orderBox("Later").code == 0)
    }

    @Test("a damaged journal: 65, the file's name, and no backup")
    func damaged() async throws {
        let service = try await LiveService.start()
        for number in 1...50 { _ = try await service.orderBox("Box \(number)") }
        service.program.signal(SIGTERM)
        _ = await service.program.outcome()
        let path = service.state.path + "/journal.sqlite"
        let descriptor = open(path, O_WRONLY)
        let end = lseek(descriptor, 0, SEEK_END)
        let noise = [UInt8](repeating: 0x55, count: 4_096)
        #expect(pwrite(descriptor, noise, noise.count, end - 4_096) == 4_096)
        close(descriptor)
        let folder = try TestFolder()
        for arguments in [["check"], ["backup", folder.path + "/b"]] {
            let outcome = try await RunningProgram.run(
                Programs.service, arguments + ["--state-directory", service.state.path],
                environment: Programs.environment())
            #expect(outcome.code == 65 && outcome.output.isEmpty, "\(outcome)")
            #expect(errors(outcome).contains("error: \(path) is damaged ("), "\(outcome)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test("a full disk: 74, and nothing is left of the backup", .enabled(if: Self.canMount))
    func full() async throws {
        let service = try await LiveService.start()
        for number in 1...50 { _ = try await service.orderBox("Box \(number)") }
        let folder = try TestFolder()
        let script = """
            mount -t tmpfs -o size=64k none '\(folder.path)'
            '\(Programs.service)' backup '\(folder.path)/b' --state-directory '\(service.state.path)'
            code=$?; ls -A '\(folder.path)'; exit $code
            """
        let outcome = try await RunningProgram.run(
            "unshare", ["-m", "bash", "-c", script], environment: Programs.environment())
        #expect(outcome.code == 74 && outcome.output.isEmpty, "\(outcome)")
        #expect(errors(outcome).contains("error: the disk of \(folder.path)/b is full; "), "\(outcome)")
        #expect(errors(outcome).contains("no backup was made: one needs ") && !errors(outcome).contains("unfinished"))
        #expect(try await service.orderBox("Later").code == 0)
    }
    private static let canMount = system("unshare -m true 2>/dev/null") == 0

    @Test("no journal: 73; no folder that could have one: 64; help and version: 0")
    func others() async throws {
        let folder = try TestFolder()
        let none = try await tool("check", "--state-directory", folder.path)
        #expect(none.code == 73 && none.output.isEmpty)
        #expect(
            errors(none).hasSuffix(
                "error: there is no journal at \(folder.path)/journal.sqlite: name its directory with --state-directory DIR"
            ), "\(none)")
        let lost = try await RunningProgram.run(Programs.service, ["check"], environment: ["PATH": "/usr/bin:/bin"])
        #expect(lost.code == 64 && errors(lost).contains("no folder for the journal"), "\(lost)")
        #expect(try await tool("backup", "--help").code == 0)
        #expect(try await tool("check", "--version").code == 0)
        #expect(try await tool("chek").code == 64)
    }
}
