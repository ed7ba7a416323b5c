import Glibc
import RelayCore
import RelayTestKit
import Synchronization
import TestTraits
import Testing

/// A D-Bus client that knows nothing of ours, subscribed to everything, is stopped while far more is published than a bus holds.
@Suite("A stopped client without Relay", .serialized, .heavy, .tags(.g3, .g4)) struct StoppedClientTests {
    struct Case: Sendable, CustomStringConvertible {
        let description: String
        let bus: @Sendable () throws -> PrivateBus
        let isUnlimited: Bool
    }
    // dbus-broker as it would be with half of what Debian's session has: at its limit it ends connections.
    static let cases = [
        Case(
            description: "dbus-daemon, without a budget", bus: { try PrivateBus(limits: .builtIn) }, isUnlimited: true),
        Case(description: "dbus-daemon", bus: { try PrivateBus(limits: .builtIn) }, isUnlimited: false),
        Case(
            description: "dbus-broker, without a budget", bus: { try PrivateBus(brokerWith: 128 << 20) },
            isUnlimited: true),
        Case(description: "dbus-broker", bus: { try PrivateBus(brokerWith: 128 << 20) }, isUnlimited: false),
    ]

    @Test(
        "200 MiB past a stopped client: relays see all, commands are answered, and its signals go on later",
        arguments: cases)
    func stopped(_ which: Case) async throws {
        let flood = try await Flood(on: which.bus(), isUnlimited: which.isUnlimited)
        let client = try ForeignClient(flood.bus, of: Flood.name)
        let monitor = try RunningProgram(
            "dbus-monitor",
            ["--address", flood.bus.address, "type='signal',interface='org.eventrelay.Stream1'"],
            environment: Programs.environment())
        try await client.isListening()
        #expect(
            try await eventually {
                try flood.publish(mebibytes: 0.1)
                return client.newest > 0
            })
        // After a quiet second.
        #expect(await eventually { monitor.output.contains { $0.contains("member=Head") } })

        // The same load, with a client that reads.
        flood.calls.begin("before")
        for _ in 0..<12 {
            try await flood.pour(mebibytes: 2)
            let newest = flood.published
            // Signals pause here, too: by the budget, and where the client reads slower than is published.
            _ = await eventually(within: .milliseconds(100)) { client.newest >= newest }
        }
        client.program.signal(SIGSTOP)
        flood.calls.begin("during")
        let headsBefore = monitor.output.count { $0.contains("member=Head") }
        try await flood.pour(mebibytes: 200)
        let figures = try await flood.busFigures()
        #expect(
            await eventually { monitor.output.count { $0.contains("member=Head") } > headsBefore },
            "a plain client sees that something happens")
        #expect(figures.held < figures.limit, "\(figures) bytes in the bus")
        if which.isUnlimited {
            #expect(await eventually { !flood.notices.all(of: .signalsPaused).isEmpty })
            let paused = flood.notices.all(of: .signalsPaused)
            #expect(paused.map(\.severity) == [.warning] && paused[0].message.contains("a subscriber does not read"))
        }
        // So that there are as many calls in a second of silence as in a burst.
        #expect(await eventually { flood.calls.count("during") > 300 })
        flood.calls.begin("after")
        let stoppedAt = flood.published
        client.program.signal(SIGCONT)
        var next = ContinuousClock.now
        #expect(
            try await eventually {
                if ContinuousClock.now >= next {
                    next += .milliseconds(20)
                    try flood.publish(mebibytes: 0)
                }
                return client.newest > stoppedAt
            }, "signals go on; newest \(client.newest) of \(flood.published), and \(stoppedAt) when it was stopped")
        #expect(await eventually { flood.calls.count("after") > 300 })
        flood.calls.end()
        if which.isUnlimited {
            // Once for the pause, once for its end.
            #expect(await eventually { flood.notices.all(of: .signalsPaused).count == 2 })
            let last = try #require(flood.notices.all(of: .signalsPaused).last)
            #expect(last.severity == .info && last.message.contains("signals go on"), "\(last)")
        }

        #expect(await eventually { flood.seen.count == flood.published })
        #expect(flood.seen.faults == 0, "\(flood.seen)")
        #expect(flood.calls.failures == [])
        let phases = ["before", "during", "after"].map { ($0, flood.calls.worst($0)) }
        print("\(which): slowest of each 50 commands, in µs:", phases, figures)
        // A test beside others says nothing about times.
        if TestForm.measuresLatency { try checkTimes(phases) }
        _ = await client.program.terminate()
        _ = await monitor.terminate()
        try await flood.stop()
    }
    private func checkTimes(_ phases: [(String, [Int])]) throws {
        // As before, within factor 2; but for what a single fifty takes now and then without any stopped client.
        func median(_ times: [Int]) throws -> Int {
            try #require(!times.isEmpty, "\(phases)")
            return times.sorted()[times.count / 2]
        }
        let limit = max(2 * (try median(try #require(phases.first).1)), 40_000)
        for (phase, times) in phases.dropFirst() {
            #expect(try median(times) <= limit, "\(phase)")
            // A single one may wait until the bus has read the 32 MiB that it may hold. One that stops reading is worth 25 s.
            #expect(times.allSatisfy { $0 <= 1_000_000 }, "\(phase)")
        }
    }
}
