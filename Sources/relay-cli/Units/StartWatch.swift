import Dispatch
import RelayCore
import RelayTool
import Synchronization

/// Looks at the unit of a service while a call waits for its start, and ends the wait when the service cannot start.
///
/// A bus waits for a unit as long as for one that is slow, 25 seconds, and then knows nothing of the reason.
final class StartWatch: Sendable {
    private let service: String
    /// Opens a connection for the questions, when the first is asked; nil: there is none to be had.
    private let open: @Sendable () -> UnitProbe?
    private let delay: Duration
    private let interval: Duration
    private let probe = Mutex<UnitProbe?>(nil)
    private let queue = DispatchQueue(label: "relay-cli-start")

    /// - Parameters:
    ///   - delay: how long a service may take to start before its unit is looked at.
    ///   - interval: how long after a look the next one follows.
    init(
        _ service: String, delay: Duration = .seconds(2), interval: Duration = .milliseconds(500),
        open: @escaping @Sendable () -> UnitProbe?
    ) {
        (self.service, self.delay, self.interval, self.open) = (service, delay, interval, open)
    }

    /// Runs a call that starts the service, unless it runs. Throws `StartFailure` once it is known that it cannot start.
    func run<Reply: Sendable>(_ call: @escaping @Sendable () async throws -> Reply) async throws -> Reply {
        try await withThrowingTaskGroup(of: Reply?.self) { group in
            group.addTask { try await call() }
            group.addTask { [self] in
                try await waitForFailure()
                return nil
            }
            defer { group.cancelAll() }
            while let result = try await group.next() {
                if let reply = result { return reply }
            }
            throw StartFailure(reason: UnitProbe.Reason(text: "no answer", remedy: "ask again"))
        }
    }
    /// How the start of a service stands for which a call has waited in vain.
    enum Standing {
        case fails(UnitProbe.Reason)
        /// The unit is on its way, in words.
        case starts(String)
        /// It runs, or nothing is known of its start.
        case unknown
    }
    func standing() async -> Standing {
        let found = await look(since: nil)
        if let reason = found.reason { return .fails(reason) }
        return found.progress.map { .starts($0) } ?? .unknown
    }
    /// Why the service does not start, after the bus has reported that it could not start it.
    func reason(afterFailure message: String) async -> UnitProbe.Reason {
        let found = await look(since: nil)
        if let reason = found.reason { return reason }
        if case .program(let program?) = found.report {
            let standing = program.standing.isEmpty ? "" : ", \(program.standing),"
            return UnitProbe.Reason(
                text: message,
                remedy: "run \(Words.quoted(program.program))\(standing) to see why: \(program.commandLine)")
        }
        return UnitProbe.Reason(text: message, remedy: "see its D-Bus service file, and its log")
    }

    /// Returns when the service runs, or the task is cancelled.
    private func waitForFailure() async throws {
        var first: UnitState?
        guard (try? await Task.sleep(for: delay)) != nil else { return }
        while true {
            let found = await look(since: first)
            if let reason = found.reason { throw StartFailure(reason: reason) }
            switch found.report {
            case .owned, .unknown, .program: return
            case .unit(_, let state): first = first ?? state
            }
            guard (try? await Task.sleep(for: interval)) != nil else { return }
        }
    }
    private struct Look: Sendable {
        var report = UnitProbe.Report.unknown
        var reason: UnitProbe.Reason?
        var progress: String?
    }
    private func look(since first: UnitState?) async -> Look {
        await withCheckedContinuation { continuation in
            // The questions wait on a thread of their own, not on one of the tasks'.
            queue.async { [self] in
                let opened = probe.withLock { probe in
                    if probe == nil { probe = open() }
                    return probe
                }
                guard let opened else { return continuation.resume(returning: Look()) }
                let report = opened.look(service)
                continuation.resume(
                    returning: Look(
                        report: report, reason: opened.reason(report, since: first),
                        progress: opened.progress(report)))
            }
        }
    }
}

extension StartWatch {
    /// On a bus of this process, with the files and the log of its system.
    convenience init(_ service: String, on bus: BusChoice, environment: [String: String]) {
        self.init(service) {
            guard let peer = try? BusLine(bus, timeout: .seconds(2)) else { return nil }
            return UnitProbe(peer: peer, on: bus, facts: .ofProcess()) { name in
                ServiceFinder.file(of: name, on: bus, environment: environment)
            }
        }
    }
}

/// A service cannot start.
struct StartFailure: Error, Equatable {
    let reason: UnitProbe.Reason
}
