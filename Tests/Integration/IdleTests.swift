import Glibc
import RelayCore
import RelayTestKit
import TestTraits
import Testing

/// What nobody uses takes nothing.
@Suite("Idle services and watchers", .heavy) struct IdleTests {
    /// The processor time that a process has taken, all its threads together, in microseconds: whatever else the machine does, it is
    /// the process's own.
    private func processorTime(_ program: RunningProgram) throws -> Int {
        var (clock, time) = (clockid_t(), timespec())
        try #require(clock_getcpuclockid(program.processID, &clock) == 0, "\(program.name) has ended")
        try #require(clock_gettime(clock, &time) == 0, "\(program.name) has ended")
        return time.tv_sec * 1_000_000 + time.tv_nsec / 1_000
    }

    @Test("services and watchers on the ring take no processor time while nothing happens")
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

        let programs = [service.program, watcher, telemetry, meter]
        let before = try programs.map(processorTime)
        // Not a wait for something: this is what is measured.
        try await Task.sleep(for: .seconds(10))
        let taken = try zip(programs, before).map { try processorTime($0) - $1 }
        print("processor time in ten seconds, in µs:", zip(programs.map(\.name), taken).map { "\($0) \($1)" })
        // A tick of the clock by which tools count: 0.1 %, which they show as 0.
        for (program, time) in zip(programs, taken) { #expect(time <= 10_000, "\(program.name)") }
        for program in [watcher, meter, monitor, telemetry] { _ = await program.terminate() }
    }
}
