import Foundation
import RelayCore
import RelayTestKit
import TestSupport
import TestTraits
import Testing

/// README's front end, killed at any moment: what it printed, and what its cursor says that it has handled.
@Suite("A program that prints", .serialized, .heavy, .tags(.g2, .g6)) struct PrintedLedgerTests {
    /// The sequence that the cursor has, which is the number of the last entry; 0: none yet.
    private func position(_ site: Site) -> Int64 {
        for line in site.cursor("printed", in: "default").split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.count > 3, words[0] == Ledger1.name { return Int64(words[3]) ?? 0 }
        }
        return 0
    }
    private func numbers(_ lines: [String]) -> [Int64] {
        lines.compactMap { $0.hasPrefix("entry ") ? Int64($0.dropFirst(6)) : nil }
    }

    @Test("its output, a file or a pipe, has each line whose event its cursor has passed") func killed() async throws {
        let rounds = Endurance.count(14, soak: 200)
        print("printed ledger: seed \(Endurance.seed)")
        try await Site.with { site in
            var random = SeededGenerator(seed: Endurance.seed)
            _ = try await site.startFaultyService("--serve", "ledger", "--synchronous", "normal")
            let relay = try site.relay(Ledger1.self)
            relay.activate()
            let output = site.folder.path + "/output"
            let program = Programs.folder + "/framed-program"
            let arguments = ["--do", "print", "--bus", site.address]
            var (printed, written): (Set<Int64>, Int64) = ([], 0)
            func start(toFile: Bool) throws -> RunningProgram {
                if !toFile { return try site.launch(program, arguments) }
                return try site.launch(
                    "/bin/sh", ["-c", "exec \"$0\" \"$@\" >>'\(output)'", program] + arguments)
            }
            func note(_ running: RunningProgram) async throws {
                let outcome = await running.outcome()
                let file = (try? String(contentsOfFile: output, encoding: .utf8)) ?? ""
                printed.formUnion(numbers(outcome.output + file.split(separator: "\n").map(String.init)))
            }
            for round in 1...rounds {
                let running = try start(toFile: round % 2 == 0)
                let before = position(site)
                // A few entries at a time, so that their lines fill no buffer.
                for _ in 1...3 {
                    let write = Ledger1.Write(first: written + 1, count: 5)
                    _ = try await site.ask(relay, write)
                    written += 5
                }
                // Most die after their cursor has moved, the others whenever it may be.
                if round % 5 != 0 { #expect(await eventually { position(site) > before }) }
                try await Task.sleep(for: .microseconds(Int.random(in: 0...150_000, using: &random)))
                running.signal(SIGKILL)
                try await note(running)
                let passed = position(site)
                let missing = (1...max(passed, 1)).filter { passed > 0 && !printed.contains($0) }
                #expect(missing.isEmpty, "round \(round): the cursor is at \(passed), and \(missing) were not printed")
            }
            let last = try start(toFile: true)
            #expect(await eventually { position(site) == written })
            last.signal(SIGTERM)
            try await note(last)
            #expect(printed == Set(1...written))
            relay.invalidate()
        }
    }
}
