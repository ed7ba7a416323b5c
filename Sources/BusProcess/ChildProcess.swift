package import RelayEvents
import CRelayShims
import Glibc
import Synchronization

/// A program that ends, at the latest, when this process does.
package final class ChildProcess: Sendable {
    /// How it ended. Unknown where this process ignores SIGCHLD, or somebody else in it reaps all children.
    package enum Exit: Hashable, Sendable { case code(Int32), signal(Int32), unknown }
    package let processID: Int32
    package let path: String
    private let end: ChildExit

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - path: a path, or a name that is looked for in `PATH`.
    ///   - environment: replaces ours when given.
    ///   - descriptors: what the child gets as which number; everything else is closed to it, but for 0, 1 and 2.
    /// Throws `NotFound` when there is no such program, `Unavailable` when it cannot be started.
    package init(
        _ path: String, _ arguments: [String], environment: [String: String]? = nil,
        descriptors: [(ours: Int32, childs: Int32)] = []
    ) throws(RelayError) {
        let found = try Self.find(path)
        self.path = found
        let end = ChildExit()
        self.end = end
        let pairs = descriptors.flatMap { [$0.ours, $0.childs] }
        // The keeper thread gives this reference back when the child has ended.
        let context = Unmanaged.passRetained(end)
        let result = Self.withCStrings([found] + arguments) { argv in
            Self.withEnvironment(environment) { envp in
                relay_spawn_bound(
                    found, argv, envp, pairs, Int32(descriptors.count),
                    { context, status in
                        guard let context else { return }
                        Unmanaged<ChildExit>.fromOpaque(context).takeRetainedValue().finish(status)
                    }, context.toOpaque())
            }
        }
        guard result > 0 else {
            context.release()
            throw RelayError(
                .unavailable, "cannot start \(found): \(SystemError(-result))", cause: SystemError(-result))
        }
        processID = result
    }
    deinit { terminate() }

    /// How it ended; nil while it runs.
    package var exit: Exit? { end.exit }
    /// Sends a signal, if it still runs.
    package func signal(_ signal: Int32) { end.ifRunning { _ = kill(processID, signal) } }
    /// Asks it to end. A stopped one is continued, to hear it.
    package func terminate() {
        signal(SIGTERM)
        signal(SIGCONT)
    }
    /// Waits until it has ended.
    package func waitForExit() async -> Exit { await end.wait() }

    /// Ours as it is, which need not be UTF-8, when none is given.
    private static func withEnvironment<Result>(
        _ environment: [String: String]?, _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        guard let environment else { return body(environ) }
        return withCStrings(environment.map { "\($0.key)=\($0.value)" }) { body($0) }
    }
    private static func find(_ name: String) throws(RelayError) -> String {
        if name.contains("/") { return name }
        let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
        for directory in path.split(separator: ":") where access("\(directory)/\(name)", X_OK) == 0 {
            return "\(directory)/\(name)"
        }
        throw RelayError(.notFound, "there is no program '\(name)' in PATH: install it")
    }
    private static func withCStrings<Result>(_ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result)
        -> Result
    {
        var copies: [UnsafeMutablePointer<CChar>?] = strings.map { strdup($0) }
        copies.append(nil)
        defer { for copy in copies { free(copy) } }
        return body(copies)
    }
}

/// How a child ended: filled in by its keeper thread, also when nobody holds the `ChildProcess` any more.
final class ChildExit: Sendable {
    private struct State {
        var exit: ChildProcess.Exit?
        var waiters: [CheckedContinuation<ChildProcess.Exit, Never>] = []
    }
    private let state = Mutex(State())

    var exit: ChildProcess.Exit? { state.withLock { $0.exit } }

    /// Runs `body` unless it has ended. Under the lock, and `finish` comes before the reaping: the id is the child's.
    func ifRunning(_ body: () -> Void) { state.withLock { if $0.exit == nil { body() } } }

    func wait() async -> ChildProcess.Exit {
        await withCheckedContinuation { continuation in
            let exit = state.withLock { state -> ChildProcess.Exit? in
                if state.exit == nil { state.waiters.append(continuation) }
                return state.exit
            }
            if let exit { continuation.resume(returning: exit) }
        }
    }
    func finish(_ status: Int32) {
        let exit: ChildProcess.Exit =
            switch (status, status & 0x7F) {
            case (..<0, _): .unknown
            case (_, 0): .code((status >> 8) & 0xFF)
            case (_, let signal): .signal(signal)
            }
        let waiters = state.withLock { state in
            state.exit = exit
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume(returning: exit) }
    }
}
