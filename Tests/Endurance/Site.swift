import BusProcess
import Foundation
import RelayCore
import RelayTestKit
import Relocation
import Synchronization
import TestSupport

/// A bus and a state directory of their own, the programs that run there, and what a test does to them.
final class Site: Sendable {
    static let service = "org.eventrelay.Service1"

    let folder: TestFolder
    let limits: BusDaemon.Limits
    private struct State {
        var daemon: BusDaemon
        var programs: [RunningProgram] = []
    }
    private let state: Mutex<State>

    /// Runs `body`; whatever it starts is dead, and its files are gone, when this returns.
    static func with(limits: BusDaemon.Limits = .session, _ body: (Site) async throws -> Void) async throws {
        let site = try Site(limits: limits)
        do {
            try await body(site)
        } catch {
            await site.end()
            throw error
        }
        await site.end()
    }
    private init(limits: BusDaemon.Limits) throws {
        let folder = try TestFolder()
        (self.folder, self.limits) = (folder, limits)
        state = Mutex(State(daemon: try BusDaemon(directory: folder.path, limits: limits)))
    }
    private func end() async {
        let programs = state.withLock { $0.programs }
        for program in programs { program.signal(SIGKILL) }
        for program in programs { _ = await program.outcome() }
        await killBus()
    }

    // MARK: The bus

    var address: String { state.withLock { $0.daemon.address } }
    var bus: Bus { .address(address) }
    func killBus() async {
        let process = state.withLock { $0.daemon.process }
        process.signal(SIGKILL)
        _ = await process.waitForExit()
    }
    /// At the same address.
    func startBus() throws {
        let daemon = try BusDaemon(directory: folder.path, limits: limits)
        state.withLock { $0.daemon = daemon }
    }

    // MARK: Programs

    var stateDirectory: String { "\(folder.path)/state" }

    func launch(
        _ path: String, _ arguments: [String], environment: [String: String] = [:],
        onLine: (@Sendable (UnsafeRawBufferPointer) -> Void)? = nil
    ) throws -> RunningProgram {
        // Where the programs keep what is their own, beside what the options say.
        let all = Programs.environment(["XDG_STATE_HOME": "\(folder.path)/state-home"])
        let program = try RunningProgram(
            path, arguments, environment: all.merging(environment) { $1 }, onLine: onLine)
        state.withLock { state in
            // Thousands are started in one test: those that have ended need no end.
            state.programs.removeAll { $0.exit != nil }
            state.programs.append(program)
        }
        return program
    }
    /// `relay-service`, which need not be ready when this returns.
    func launchService(_ arguments: String...) throws -> RunningProgram {
        try launch(Programs.service, ["--bus", address, "--state-directory", stateDirectory] + arguments)
    }
    func startService(_ arguments: String...) async throws -> RunningProgram {
        let program = try launch(
            Programs.service, ["--bus", address, "--state-directory", stateDirectory] + arguments)
        try await program.line(containing: "ready")
        return program
    }
    /// `faulty-service`, which is ready when this returns. It ends itself at a step when `arm()` was called.
    func startFaultyService(_ arguments: String..., environment: [String: String] = [:]) async throws -> RunningProgram
    { try await startFaultyService(arguments, environment: environment) }
    func startFaultyService(
        _ arguments: [String], environment: [String: String] = [:]
    ) async throws -> RunningProgram {
        let program = try launchFaultyService(arguments, environment: environment)
        try await program.line(containing: "ready")
        return program
    }
    /// The same, which need not be ready when this returns.
    func launchFaultyService(_ arguments: [String], environment: [String: String] = [:]) throws -> RunningProgram {
        try launch(
            Programs.faultyService,
            ["--bus", address, "--state-directory", stateDirectory, "--when", trigger] + arguments,
            environment: environment)
    }
    /// What `relay-cli` has written of a cursor, or a program that names no namespace; empty: nothing.
    func cursor(_ name: String, in namespace: String = "relay-cli") -> String {
        (try? String(
            contentsOfFile: "\(folder.path)/state-home/relay/cursors/\(namespace)/\(Self.service)/\(name).cursor",
            encoding: .utf8)) ?? ""
    }
    /// The arguments of a `faulty-watcher` that resumes.
    func faultyWatcher(_ arguments: String...) -> @Sendable () -> [String] {
        let all = ["--bus", address, "--from", "endurance", "--cursors", "\(folder.path)/cursors", "--when", trigger]
        return { all + arguments }
    }
    private var trigger: String { "\(folder.path)/trigger" }
    /// From now on faulty programs end at their step.
    func arm() throws { try folder.write("", to: "trigger") }
    func disarm() { unlink(trigger) }

    func relay(_ interfaces: any EventInterface.Type) throws -> EventRelay {
        try EventRelay(following: Self.service, on: bus, interfaces: interfaces, activation: .ifRunning)
    }
    /// Asks a question, until somebody is there to answer: for commands that change nothing, or did not run yet.
    func ask<C: Command>(_ relay: EventRelay, _ command: C) async throws -> C.Reply {
        var reply: C.Reply?
        let isAnswered = try await eventually {
            let outcome = await relay.outcome(of: command)
            if case .failed(let reason) = outcome, reason.code == .unavailable, !reason.mayHaveRun { return false }
            reply = try outcome.get()
            return true
        }
        guard isAnswered, let reply else { throw RelayError(.timedOut, "nobody answers \(C.name)") }
        return reply
    }
    /// The last sequence that is committed; 0 without a journal.
    func journalHead() throws -> UInt64 {
        let path = "\(stateDirectory)/journal.sqlite"
        if access(path, F_OK) != 0 { return 0 }
        return try JournalFile(path).events(of: Relocation1.name).last?.sequence ?? 0
    }
    /// All boxes and items, by as many pages as it takes.
    func contents(_ relay: EventRelay) async throws -> Warehouse {
        try await Warehouse { try await ask(relay, $0) }
    }
    /// Who has the service's name.
    func owner() async throws -> String {
        let outcome = try await run(
            "busctl", "--address=\(address)", "call", "org.freedesktop.DBus", "/org/freedesktop/DBus",
            "org.freedesktop.DBus", "GetNameOwner", "s", Self.service)
        return outcome.output.joined().split(separator: "\"").dropFirst().first.map(String.init) ?? ""
    }
    /// A number in a dictionary that busctl has shown: … "Name" u 4711 …
    static func number(_ name: String, in outcome: RunningProgram.Outcome) -> Int? {
        let words = outcome.output.joined().split(separator: " ")
        guard let place = words.firstIndex(of: "\"\(name)\""), place + 2 < words.count else { return nil }
        return Int(words[place + 2])
    }
    /// Runs any program to its end.
    func run(_ program: String, _ arguments: String...) async throws -> RunningProgram.Outcome {
        await (try launch(program, arguments)).outcome()
    }
    /// Runs `relay-cli` to its end.
    func cli(_ arguments: String...) async throws -> RunningProgram.Outcome {
        await (try launch(Programs.cli, ["--bus", address] + arguments)).outcome()
    }
}
