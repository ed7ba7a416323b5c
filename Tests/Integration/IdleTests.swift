import Foundation
import Glibc
import RelayCore
import RelayTestKit
import TestTraits
import Testing

/// What nobody uses takes nothing. Not `.heavy`: it measures for 10 s, and takes next to nothing itself.
@Suite("Idle services and watchers") struct IdleTests {
    /// What a process has done, all its threads together: the processor time in microseconds, and how often it slept, which is as often
    /// as it was woken. Both are its own: whatever else the machine does, and however fast it is, it wakes for its own reasons.
    private struct Work {
        var time = 0
        var wakes = 0
        static func - (later: Work, earlier: Work) -> Work {
            Work(time: later.time - earlier.time, wakes: later.wakes - earlier.wakes)
        }
    }
    private func work(_ program: RunningProgram) throws -> Work {
        var (clock, time) = (clockid_t(), timespec())
        try #require(clock_getcpuclockid(program.processID, &clock) == 0, "\(program.name) has ended")
        try #require(clock_gettime(clock, &time) == 0, "\(program.name) has ended")
        let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(program.processID)/task")
        let wakes = try threads.map { thread in
            let path = "/proc/\(program.processID)/task/\(thread)/status"
            // A thread may end meanwhile.
            guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return 0 }
            let line = text.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") }
            return try #require(line?.split(separator: "\t").last.flatMap { Int($0) })
        }
        return Work(time: time.tv_sec * 1_000_000 + time.tv_nsec / 1_000, wakes: wakes.reduce(0, +))
    }

    @Test("services and watchers on the ring hardly wake while nothing happens, and hardly ask the bus")
    func idle() async throws {
        let service = try await LiveService.start()
        let watcher = try service.cli("--json", "watch")
        try await watcher.line(containing: "watching")
        #expect(
            try await eventually {
                _ = try await service.orderBox("Kitchen")
                return watcher.output.contains { $0.contains(#""transport":"ring""#) }
            })

        // One sample now, the next at the end of the measurement.
        let bus = try PrivateBus()
        let telemetry = try RunningProgram(
            Programs.service, ["--bus", bus.address, "--domain", "telemetry", "--rate", "0.1"],
            environment: Programs.environment())
        try await telemetry.line(containing: "ready")
        let meter = try RunningProgram(
            Programs.cli, ["--bus", bus.address, "--json", "watch"], environment: Programs.environment())
        try await meter.line(containing: #""transport":"ring""#)
        let monitor = try RunningProgram(
            "dbus-monitor", ["--address", bus.address, "type='signal',interface='org.eventrelay.Stream1'"],
            environment: Programs.environment())
        // The last word after the sample: a second later.
        try await monitor.line(containing: "member=Head")

        // One whose service is not there.
        let empty = try PrivateBus()
        let lonely = try RunningProgram(
            Programs.cli, ["--bus", empty.address, "--service", "org.example.Absent", "watch"],
            environment: Programs.environment())
        #expect(await eventually { lonely.errors.contains { $0.contains("waiting for org.example.Absent") } })
        // What they ask the bus: who has the service's name, and the service who is there.
        let questions = try [service.address, bus.address, empty.address].map { address in
            try RunningProgram(
                "dbus-monitor",
                ["--address", address] + ["GetNameOwner", "ListNames"].map { "type='method_call',member='\($0)'" },
                environment: Programs.environment())
        }
        func asked(_ member: String = "GetNameOwner") -> [Int] {
            questions.map { monitor in monitor.output.count { $0.contains("member=\(member)") } }
        }
        #expect(await eventually { questions.allSatisfy { !$0.output.isEmpty } })

        let programs = [service.program, watcher, telemetry, meter, lonely]
        let before = try programs.map(work)
        let (askedBefore, listedBefore) = (asked(), asked("ListNames"))
        let start = ContinuousClock.now
        // Not a wait for something: this is what is measured.
        try await Task.sleep(for: .seconds(10))
        let taken = try zip(programs, before).map { try work($0) - $1 }
        let seconds = Int((ContinuousClock.now - start) / .seconds(1)) + 1
        let askedMeanwhile = zip(asked(), askedBefore).map { $0 - $1 }
        let listedMeanwhile = zip(asked("ListNames"), listedBefore).map { $0 - $1 }
        for (program, work) in zip(programs, taken) {
            print("\(program.name) in \(seconds) s: woke \(work.wakes) times, took \(work.time) µs")
        }
        for (program, work) in zip(programs, taken) {
            // A service's loop wakes once a second, a watcher's as well, and its reader of the ring looks four times.
            #expect(work.wakes <= (program === watcher || program === meter ? 8 : 4) * seconds, "\(program.name)")
            // A watcher without a service wakes to ask for it, to read the answer, and once a second.
            if program === lonely { #expect(work.wakes <= 3 * seconds, "\(program.name)") }
            // What spins takes a share of a processor, however many there are who want it; this takes 0.05 % of one.
            #expect(work.time <= 10_000 * seconds, "\(program.name)")
        }
        // At most every 20 s where all is well, and every 3 s without a service.
        for asked in askedMeanwhile.dropLast() { #expect(asked <= 1 + seconds / 20, "\(askedMeanwhile)") }
        #expect(1...(1 + seconds / 3) ~= askedMeanwhile[2], "\(askedMeanwhile)")
        // Once after the last call, then at most every 20 s.
        for listed in listedMeanwhile { #expect(listed <= 1 + seconds / 20, "\(listedMeanwhile)") }
        for program in [watcher, meter, monitor, telemetry, lonely] + questions { _ = await program.terminate() }
    }
}
