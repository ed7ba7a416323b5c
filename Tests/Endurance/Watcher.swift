import Glibc
import RelayCore
import RelayTestKit
import Synchronization

/// A `relay-cli watch`, or another program with the same lines, that a test may kill and start again.
final class Watcher: Sendable {
    private struct State {
        var account = WatcherAccount()
        var program: RunningProgram?
        var hasEndedOrderly = false
        var beginning: ClosedRange<UInt64>?
    }
    private final class Shared: Sendable {
        let state = Mutex(State())
    }
    private let site: Site
    private let path: String
    private let arguments: @Sendable () -> [String]
    private let shared = Shared()

    /// `relay-cli watch` with these arguments.
    convenience init(_ site: Site, _ arguments: String...) {
        self.init(site, program: Programs.cli) { ["--bus", site.address, "--json", "watch"] + arguments }
    }
    init(_ site: Site, program: String, arguments: @escaping @Sendable () -> [String]) {
        (self.site, path, self.arguments) = (site, program, arguments)
    }

    var account: WatcherAccount { shared.state.withLock { $0.account } }
    var position: UInt64 { shared.state.withLock { $0.account.position } }
    var program: RunningProgram? { shared.state.withLock { $0.program } }

    /// Where one that was started by `startLive` may begin.
    var beginning: ClosedRange<UInt64>? { shared.state.withLock { $0.beginning } }

    /// Starts one that watches from now on, with a service that runs; returns when it is watching.
    ///
    /// It begins behind what was committed before its start, and misses nothing that is committed after it has said so.
    func startLive() async throws {
        let before = try site.journalHead()
        try start()
        try await program?.line(containing: "watching")
        let after = try site.journalHead()
        shared.state.withLock { $0.beginning = before + 1...after + 1 }
    }
    /// Starts it, for the first time or after `kill` or `finish`.
    func start() throws {
        let arguments = arguments()
        shared.state.withLock { state in
            state.account.beginRun(isExact: state.hasEndedOrderly && arguments.contains("--resume"))
            state.hasEndedOrderly = false
        }
        let program = try site.launch(path, arguments) { [shared] line in
            let text = String(decoding: line, as: UTF8.self)
            shared.state.withLock { $0.account.take(text) }
        }
        shared.state.withLock { $0.program = program }
    }
    /// Returns when it is dead and all that it wrote was read.
    func kill() async {
        guard let program else { return }
        program.signal(SIGKILL)
        // By a task of its own: in one that was cancelled nothing waits until all is read.
        _ = await Task { await program.outcome() }.value
    }
    /// Asks it to end.
    func finish() async -> RunningProgram.Outcome? {
        guard let program else { return nil }
        program.signal(SIGINT)
        let outcome = await program.outcome()
        shared.state.withLock { $0.hasEndedOrderly = outcome.code == 0 }
        return outcome
    }
}
