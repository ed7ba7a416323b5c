import RelayCore
import RelayTestKit

/// Where a transcript is played: a bus and a folder of its own, in which its programs run.
final class Stage {
    let bus: PrivateBus
    let folder: TestFolder
    private var started: [RunningProgram] = []
    private var press: EventService?

    init(policy: String) throws {
        bus = try PrivateBus(limits: .session, policy: policy)
        folder = try TestFolder()
    }

    /// What is named otherwise in transcripts.
    var places: [(path: String, name: String)] {
        [(folder.path, "/stage"), (bus.directory, "/bus"), (Programs.folder, "/programs")]
    }

    private func environment(_ additions: [String: String] = [:]) -> [String: String] {
        var environment = Programs.environment([
            "HOME": folder.path, "TZ": "UTC", "LC_ALL": "C.UTF-8", "bus": bus.address,
            "DBUS_SESSION_BUS_ADDRESS": bus.address, "DBUS_SYSTEM_BUS_ADDRESS": bus.address,
            "sources": Recorded.folder, "SWIFT_BACKTRACE": "enable=no",
        ])
        environment["PATH"] = "\(Programs.folder):\(environment["PATH"] ?? "/usr/bin:/bin")"
        // A slow machine may not find it in the time that relay-cli gives itself.
        if press != nil { environment["RELAY_SERVICE"] = Press1.service }
        if let last = started.last { environment["service"] = "\(last.processID)" }
        return environment.merging(additions) { $1 }
    }
    /// The shell becomes the program where one program is the whole line: then signals reach it.
    private func launch(
        _ line: String, becomes: Bool = false, _ additions: [String: String] = [:]
    ) throws -> RunningProgram {
        try RunningProgram(
            "/bin/bash", ["-c", "cd \"$HOME\"; " + (becomes ? "exec " : "") + line],
            environment: environment(additions))
    }

    /// `press` is a service of this process: see `Press1`.
    func start(_ line: String) async throws {
        if line == "press" {
            press = try await Press1.start(on: bus.bus)
            return
        }
        let program = try launch(line, becomes: true)
        started.append(program)
        // One that has shown all that is kept holds its place.
        try await program.line(containing: line.hasPrefix("relay-cli") ? "up to date" : "ready")
    }
    func endLast() async {
        _ = await started.popLast()?.terminate()
    }
    func endAll() async {
        while !started.isEmpty { await endLast() }
        try? await press?.stop(patience: .zero)
        press = nil
    }

    func run(_ run: Transcript.Run) async throws -> Transcript.Outcome {
        while true {
            let outcome = try await runOnce(run)
            if !run.again.contains(outcome.code ?? -1) { return outcome }
        }
    }
    private func runOnce(_ run: Transcript.Run) async throws -> Transcript.Outcome {
        let program = try launch(run.line, becomes: !run.meanwhile.isEmpty)
        for step in run.meanwhile {
            try await program.line(containing: step.said)
            let outcome = try await launch(step.line, ["program": "\(program.processID)"]).outcome()
            if outcome.code != 0 {
                throw RelayError(.internalFailure, "meanwhile, '\(step.line)' ended: \(outcome)")
            }
        }
        let outcome = await program.outcome()
        // As a shell tells of a program that a signal ended.
        let code: Int32 =
            switch outcome.exit {
            case .code(let code): code
            case .signal(let signal): 128 + signal
            case .unknown: -1
            }
        return Transcript.Outcome(output: outcome.output, errors: outcome.errors, code: code)
    }
}
