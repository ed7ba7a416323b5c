import Glibc
import RelayCore
import RelayTestKit
import TestTraits
import Testing

/// What a call costs the two processes in system calls. strace counts them: how busy or how slow the machine is changes hardly anything.
///
/// The figures are those of a call that follows the one before. One more wake-up of a thread costs two or more: the call that wakes it,
/// and the one in which it slept. The bounds leave room for less than one. What threads do where they meet at a lock is not counted:
/// that is chance.
@Suite("The system calls of a command", .heavy) struct CallCostTests {
    /// How often each system call was made; a sum or an average.
    private typealias Counts = [String: Double]

    /// 7.3 to 7.8 today, where strace makes an answer too slow for its caller to wait for it: recvmsg and futex twice, epoll_wait
    /// one and a half times, sendto once; what wakes the loop every second time. Where the caller waits, it is less.
    private static let callersBound = 8.6
    /// 6.6 to 7.0 today: recvmsg twice, futex once or twice; epoll_wait, sendto and libdbus's geteuid once; now and then the timer of the watch.
    private static let servicesBound = 7.6
    /// So many calls, in order, each side in a process of its own: what the start costs cancels out between the two.
    private static let few = 256
    private static let many = 1_280

    @Test("a call and its reply take a bounded number of system calls, of their caller and of their service")
    func counts() async throws {
        let least = try await run(Self.few)
        let most = try await run(Self.many)
        let caller = perCall(most.caller, least.caller)
        let service = perCall(most.service, least.service)
        print("system calls a command: caller \(text(caller)); service \(text(service))")
        for counts in [caller, service] {
            // One message each way, by one call.
            let sent = counts["sendto", default: 0]
            #expect(abs(sent - 1) <= 0.1, "\(text(counts))")
        }
        #expect(caller.values.reduce(0, +) <= Self.callersBound, "\(text(caller))")
        #expect(service.values.reduce(0, +) <= Self.servicesBound, "\(text(service))")
    }

    private func perCall(_ most: Counts, _ least: Counts) -> Counts {
        most.reduce(into: [:]) { sum, count in
            sum[count.key] = (count.value - least[count.key, default: 0]) / Double(Self.many - Self.few)
        }
    }
    private func text(_ counts: Counts) -> String {
        func short(_ value: Double) -> Double { (value * 100).rounded() / 100 }
        let words = counts.filter { $0.value >= 0.05 }.sorted { ($0.value, $0.key) > ($1.value, $1.key) }
        return "\(short(counts.values.reduce(0, +))): "
            + words.map { "\($0.key) \(short($0.value))" }.joined(separator: ", ")
    }

    private func run(_ count: Int) async throws -> (caller: Counts, service: Counts) {
        let bus = try PrivateBus()
        let service = try start("answer", count, bus)
        try await service.line(containing: "ready")
        let caller = try await start("call", count, bus).outcome()
        try #require(caller.code == 0, "\(caller.errors.suffix(20))")
        let ended = await service.outcome()
        try #require(ended.code == 0, "\(ended.errors.suffix(20))")
        return (systemCalls(caller), systemCalls(ended))
    }
    private func start(_ path: String, _ count: Int, _ bus: PrivateBus) throws -> RunningProgram {
        try RunningProgram(
            "strace",
            ["--follow-forks", "--quiet=all", "--string-limit=0"]
                + [Programs.folder + "/hot-paths", path, "\(count)", bus.address, ""],
            environment: Programs.environment())
    }
    /// Of lines like `[pid  7] futex(0x7f, FUTEX_WAKE_PRIVATE, 1) = 1`. A call that another one interrupts has a second line, which
    /// begins with `<...`.
    private func systemCalls(_ outcome: RunningProgram.Outcome) -> Counts {
        outcome.errors.reduce(into: [:]) { counts, line in
            let call = line.hasPrefix("[pid") ? line.drop { $0 != "]" }.dropFirst(2) : line[...]
            guard let end = call.firstIndex(of: "("), !call.contains("_PI_PRIVATE") else { return }
            let name = call[..<end]
            if name.allSatisfy({ $0.isLowercase || $0.isNumber || $0 == "_" }) { counts[String(name), default: 0] += 1 }
        }
    }
}
