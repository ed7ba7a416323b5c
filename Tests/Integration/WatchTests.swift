import Glibc
import RelayCore
import RelayTestKit
import TestTraits
import Testing

/// `relay-cli watch` against a live service.
@Suite("relay-cli watch", .heavy, .tags(.g1, .g6)) struct WatchTests {
    @Test("watch shows events of any tool's doing, in order, and ends by --count")
    func countEnds() async throws {
        let service = try await LiveService.start()
        let watcher = try service.cli("watch", "--count", "2")
        try await watcher.line(containing: "watching")
        for label in ["Kitchen", "Hall", "Attic"] { #expect(try await service.orderBox(label).code == 0) }
        let outcome = await watcher.outcome()
        #expect(outcome.code == 0, "\(outcome)")
        #expect(outcome.output.count == 2, "\(outcome)")
        let words = outcome.output.map { $0.split(separator: " ").dropFirst().joined(separator: " ") }
        #expect(
            words == [
                #"#1 BoxProvisioned boxID=1 capacity=10 title="Kitchen""#,
                #"#2 BoxProvisioned boxID=2 capacity=10 title="Hall""#,
            ])
    }

    @Test("watch of named events shows those only")
    func selection() async throws {
        let service = try await LiveService.start()
        let watcher = try service.cli("--json", "watch", "ItemProvisioned", "--count", "1")
        try await watcher.line(containing: "watching")
        #expect(try await service.orderBox("Kitchen").code == 0)
        #expect(try await service.runCLI("call", "DistributeItem", "title=Kettle").code == 0)
        let outcome = await watcher.outcome()
        #expect(outcome.code == 0 && outcome.output.count == 1, "\(outcome)")
        let line = outcome.output.first ?? ""
        #expect(
            line.hasPrefix(
                #"{"event":"ItemProvisioned","interface":"org.eventrelay.Relocation1","sequence":2,"previous":0,"#))
        // It begins in the journal, and goes on with the ring.
        #expect(
            line.hasSuffix(#""transport":"ring","fields":{"itemID":1,"boxID":1,"title":"Kettle"}}"#)
                || line.hasSuffix(#""transport":"journal","fields":{"itemID":1,"boxID":1,"title":"Kettle"}}"#),
            "\(line)")
    }

    @Test("watch ends with exit code 0 when --for is over, and on SIGINT and SIGTERM")
    func ends() async throws {
        let service = try await LiveService.start()
        let timed = try await service.runCLI("watch", "--for", "0.2")
        #expect(timed.code == 0 && timed.output.isEmpty, "\(timed)")
        for signal in [SIGINT, SIGTERM] {
            let watcher = try service.cli("watch")
            try await watcher.line(containing: "watching")
            watcher.signal(signal)
            let outcome = await watcher.outcome()
            #expect(outcome.code == 0, "\(outcome)")
        }
    }

    @Test("watch waits for a service that is not there yet, and misses none of its events")
    func waits() async throws {
        let bus = try PrivateBus()
        let watcher = try RunningProgram(
            Programs.cli, ["--bus", bus.address, "watch", "--count", "3"], environment: Programs.environment())
        try await watcher.line(containing: "waiting for a service of Relay")
        let state = try TestFolder()
        let service = try RunningProgram(
            Programs.service, ["--bus", bus.address, "--state-directory", state.path],
            environment: Programs.environment())
        try await service.line(containing: "ready")
        // At once, without waiting for the watcher to have noticed.
        for label in ["A", "B", "C"] {
            let call = try await RunningProgram.run(
                Programs.cli, ["--bus", bus.address, "call", "OrderBox", "label=\(label)", "capacity=5"],
                environment: Programs.environment())
            #expect(call.code == 0, "\(call)")
        }
        let outcome = await watcher.outcome()
        #expect(outcome.code == 0, "\(outcome)")
        #expect(outcome.output.map { $0.contains(" gap: ") } == [false, false, false], "\(outcome)")
    }

    @Test("a watcher comes back after the service ended in good order, without a gap")
    func restart() async throws {
        let service = try await LiveService.start()
        let watcher = try service.cli("watch", "--count", "2")
        try await watcher.line(containing: "watching")
        #expect(try await service.orderBox("Before").code == 0)
        try await watcher.line(containing: "Before")
        #expect(await service.program.terminate().code == 0)
        try await watcher.line(containing: "went away")
        try await service.restart()
        try await watcher.line(containing: "is back")
        #expect(try await service.orderBox("After").code == 0)
        let outcome = await watcher.outcome()
        #expect(outcome.code == 0, "\(outcome)")
        #expect(outcome.output.count == 2 && outcome.output[1].contains("#2 BoxProvisioned"), "\(outcome)")
    }

    @Test("a watcher comes back after the service was killed, and has missed nothing")
    func kill() async throws {
        let service = try await LiveService.start()
        let watcher = try service.cli("--json", "watch", "--count", "2")
        try await watcher.line(containing: "watching")
        #expect(try await service.orderBox("Before").code == 0)
        try await watcher.line(containing: "Before")
        service.program.signal(SIGKILL)
        #expect(await service.program.outcome().exit == .signal(SIGKILL))
        try await service.restart()
        try await watcher.line(containing: "is back")
        #expect(try await service.orderBox("After").code == 0)
        let outcome = await watcher.outcome()
        #expect(outcome.code == 0 && outcome.output.count == 2, "\(outcome)")
        for (line, part) in zip(outcome.output, [#""sequence":1,"#, #""sequence":2,"#]) {
            #expect(line.contains(part), "\(outcome)")
        }
    }

    @Test("a signal forged by another connection shows in no watch, broadcast or sent to it alone")
    func forged() async throws {
        let service = try await LiveService.start()
        let all = try service.cli("watch")
        let one = try service.cli("--json", "watch", "BoxProvisioned")
        let monitor = try RunningProgram(
            "dbus-monitor", ["--address", service.address, "type='signal',interface='\(LiveService.interface)'"])
        for watcher in [all, one] { try await watcher.line(containing: "watching") }
        try await monitor.line(containing: "NameLost")
        // The next one that would come, with the right stamp.
        let event = [
            LiveService.object, "\(LiveService.interface).BoxProvisioned", "int64:1", "int32:10", "string:Forged",
            "uint64:1", "uint64:0", "uint64:1700000000000000",
        ]
        let listing = try await service.run(
            "busctl", ["--address=\(service.address)", "list", "--unique", "--no-legend"])
        let peers = listing.output.compactMap { $0.split(separator: " ").first.map(String.init) }
        let destinations = [[]] + peers.filter { $0.hasPrefix(":") }.map { ["--dest=\($0)"] }
        #expect(destinations.count > 3)
        for destination in destinations {
            // A peer may have left since: that of busctl itself.
            _ = try await service.run(
                "dbus-send", ["--bus=\(service.address)", "--type=signal"] + destination + event)
        }
        try await monitor.line(containing: "string \"Forged\"", count: destinations.count - 1)
        // What comes behind them shows that they were looked at.
        #expect(try await service.orderBox("Real").code == 0)
        for watcher in [all, one] { try await watcher.line(containing: "Real") }
        for watcher in [all, one] {
            let outcome = await watcher.terminate()
            #expect(outcome.output.count == 1, "\(outcome)")
        }
        _ = await monitor.terminate()
    }

    @Test("a process without descriptors for a ring says so, and gets its events as signals") func fewDescriptors()
        async throws
    {
        let service = try await LiveService.start()
        // Enough for the program and its connection, and fewer than the ring takes besides.
        let line =
            "ulimit -n 13; exec \(Programs.cli) --bus \(service.address) --json -s \(LiveService.name) watch --since start"
        let watch = try RunningProgram("/bin/bash", ["-c", line], environment: Programs.environment())
        try await watch.line(
            containing: "no file descriptor for the ring of \(LiveService.interface): Too many open files; close others"
        )
        try await watch.line(containing: "up to date")
        #expect(try await service.orderBox("Kitchen").code == 0)
        let event = try await watch.line(containing: #""title":"Kitchen""#)
        #expect(event.contains(#""transport":"signal""#) || event.contains(#""transport":"journal""#), "\(event)")
        _ = await watch.terminate()
    }
}
