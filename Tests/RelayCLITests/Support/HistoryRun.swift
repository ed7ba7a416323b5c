import Glibc
import RelayCore
import RelayTool
import Synchronization
import Testing

@testable import relay_cli

/// What came of the program with a command line, without a process of its own, and a service that is a `FakeJournal`.
struct HistoryRun: Equatable, Sendable {
    var code: ExitCode
    var output: String
    var notes: [String]

    var lines: [String] { output.split(whereSeparator: \.isNewline).map(String.init) }
    func line(_ index: Int) -> String { index < lines.count ? lines[index] : "" }
    /// `n` of each line that is no gap, and `n-m` of a gap.
    var sequences: [String] {
        lines.map { line in
            if let gap = line.firstMatch(of: /gap: #(\d+) (?:to #(\d+) )?of/) { return "\(gap.1)-\(gap.2 ?? gap.1)" }
            return line.firstMatch(of: #/ #(\d+) /#).map { String($0.1) } ?? line
        }
    }

    static func run(
        _ arguments: String..., from journal: FakeJournal, isTerminal: Bool = false,
        objects: [String: String] = Samples.objects
    ) async throws -> HistoryRun {
        try await run(arguments, journal, isTerminal: isTerminal, objects: objects)
    }
    static func run(
        _ arguments: [String], _ journal: FakeJournal, isTerminal: Bool = false,
        objects: [String: String] = Samples.objects, columns: Int? = nil, programs: [String: String] = [:]
    ) async throws -> HistoryRun {
        // As much as comes: a pipe would have to be read meanwhile.
        let file = try #require(tmpfile())
        defer { fclose(file) }
        let output = fileno(file)
        let notes = Notes()
        let code = await start(arguments, journal, output, isTerminal, objects, notes, columns, programs).value
        var bytes = [UInt8](repeating: 0, count: Int(lseek(output, 0, SEEK_END)))
        #expect(pread(output, &bytes, bytes.count, 0) == bytes.count)
        return HistoryRun(
            code: code, output: String(decoding: bytes, as: UTF8.self), notes: notes.lines.withLock { $0 })
    }
    /// With its output at a descriptor.
    static func start(
        _ arguments: [String], _ journal: FakeJournal, _ output: Int32, _ isTerminal: Bool = false,
        _ objects: [String: String] = Samples.objects, _ notes: Notes, _ columns: Int? = nil,
        _ programs: [String: String] = [:]
    ) -> Task<ExitCode, Never> {
        WaitingThread.run {
            var environment = Tool.testedEnvironment
            environment["NO_COLOR"] = "1"
            var tool = Tool.tested(
                environment: environment, output: output, isTerminal: isTerminal, notes, columns: columns,
                peer: FakePeer { call throws(RelayError) in throw FakePeer.refusal("AccessDenied", "no", calling: call)
                }
            ) {
                _, _, _, _, _ in FakeFollowed(FakeService(objects: objects, answer: journal.answer))
            }
            tool.programs = { _, _ in programs }
            return tool.run(arguments)
        }
    }
}
