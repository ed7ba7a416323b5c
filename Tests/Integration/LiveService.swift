import Glibc
import RelayCore
import RelayTestKit
import Synchronization

/// A private bus with `relay-service` on it, and what a test does to both.
final class LiveService: Sendable {
    static let name = "org.eventrelay.Service1"
    static let interface = "org.eventrelay.Relocation1"
    static let object = "/org/eventrelay/Relocation1"

    let bus: PrivateBus
    /// Where it keeps its journal: over restarts, until the test ends.
    let state: TestFolder
    private let options: [String]
    private let current: Mutex<RunningProgram>
    var program: RunningProgram { current.withLock { $0 } }
    var address: String { bus.address }

    /// Returns when the name is taken.
    static func start(domain: String = "relocation", _ options: String...) async throws -> LiveService {
        let bus = try PrivateBus()
        let state = try TestFolder()
        let options = ["--domain", domain] + options
        return LiveService(bus, state, options, try await launch(bus, state, options))
    }
    private init(_ bus: PrivateBus, _ state: TestFolder, _ options: [String], _ program: RunningProgram) {
        (self.bus, self.state, self.options) = (bus, state, options)
        current = Mutex(program)
    }

    private static func launch(
        _ bus: PrivateBus, _ state: TestFolder, _ options: [String]
    ) async throws -> RunningProgram {
        let program = try RunningProgram(
            Programs.service, ["--bus", bus.address, "--state-directory", state.path] + options,
            environment: Programs.environment())
        try await program.line(containing: "ready")
        return program
    }
    /// Starts it again after its end, with the journal that it left.
    func restart() async throws {
        let program = try await Self.launch(bus, state, options)
        current.withLock { $0 = program }
    }

    /// `relay-cli` with these arguments, on this bus.
    func cli(_ arguments: String...) throws -> RunningProgram {
        try RunningProgram(Programs.cli, ["--bus", address] + arguments, environment: Programs.environment())
    }
    /// Runs `relay-cli` to its end.
    func runCLI(_ arguments: String...) async throws -> RunningProgram.Outcome {
        try await RunningProgram.run(
            Programs.cli, ["--bus", address] + arguments, environment: Programs.environment())
    }
    /// Runs any program to its end, with this bus as its session bus.
    func run(_ program: String, _ arguments: [String]) async throws -> RunningProgram.Outcome {
        try await RunningProgram.run(
            program, arguments, environment: Programs.environment(["DBUS_SESSION_BUS_ADDRESS": address]))
    }
    /// Orders a box by a tool that is not ours.
    func orderBox(_ label: String, _ capacity: Int = 10) async throws -> RunningProgram.Outcome {
        try await run(
            "busctl",
            [
                "--address=\(address)", "call", Self.name, Self.object, Self.interface, "OrderBox", "si", label,
                "\(capacity)",
            ])
    }
}
