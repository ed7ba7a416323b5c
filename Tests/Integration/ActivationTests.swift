import Glibc
import RelayCore
import RelayTestKit
import Relocation
import Synchronization
import TestTraits
import Testing

/// A service that the bus starts.
@Suite("A service that the bus starts", .heavy, .tags(.g6)) struct ActivationTests {
    /// A bus with a service file for `relay-service`, as packages bring it.
    private final class Site: Sendable {
        let bus: PrivateBus
        let state: TestFolder
        private let services: TestFolder

        init(_ arguments: String = "") async throws {
            (services, state) = (try TestFolder(), try TestFolder())
            let folder = services.path + "/share/dbus-1/services"
            bus = try PrivateBus(limits: .session, policy: "<servicedir>\(folder)</servicedir>")
            let outcome = try await RunningProgram.run(
                Programs.sources + "/../../scripts/render-units",
                [
                    "--name", LiveService.name, "--exec", Programs.service,
                    "--arguments=--bus \(bus.address) --state-directory \(state.path) \(arguments)", services.path,
                ])
            try #require(outcome.code == 0, "\(outcome)")
        }
        func relay(_ activation: EventRelay.Activation = .onDemand) throws -> EventRelay {
            let relay = try EventRelay(
                following: LiveService.name, on: bus.bus, interfaces: Relocation1.self, activation: activation)
            relay.activate()
            return relay
        }
        /// The process that has the name; nil: nobody has.
        func owner() async throws -> Int32? {
            let outcome = try await RunningProgram.run(
                "busctl",
                [
                    "--address=\(bus.address)", "call", "org.freedesktop.DBus", "/org/freedesktop/DBus",
                    "org.freedesktop.DBus", "GetConnectionUnixProcessID", "s", LiveService.name,
                ], environment: Programs.environment())
            return outcome.output.first.flatMap { Int32($0.dropFirst(2)) }
        }
        /// Ends what the bus has started.
        func end() async throws {
            if let process = try await owner() { kill(process, SIGTERM) }
            #expect(try await eventually { try await self.owner() == nil })
            await bus.stop()
        }
    }

    @Test("a command starts a service that the bus can start, and a relay that only looks does not")
    func onDemand() async throws {
        let site = try await Site()
        let looking = try site.relay(.ifRunning)
        do {
            _ = try await looking.call(Contents())
            Issue.record("a service was started")
        } catch {
            #expect((error as? RelayError)?.code == .unavailable)
        }
        // Nor does one that wants nothing yet.
        let relay = try site.relay()
        #expect(try await site.owner() == nil)
        #expect(try await relay.call(OrderBox(label: "Kitchen", capacity: 10)).boxID == 1)
        // Now it runs, for the other one, too.
        #expect(try await looking.call(Contents()).boxes.map(\.title) == ["Kitchen"])
        try await site.end()
    }
    @Test("a subscription starts it, and keeps it; it ends when the last subscriber has left")
    func subscription() async throws {
        let site = try await Site("--idle-exit 0")
        let relay = try site.relay()
        let seen = Mutex<[String]>([])
        let subscription = relay.publisher.subscribe(to: BoxProvisioned.self, delivery: .immediate) {
            event in
            seen.withLock { $0.append(event.title) }
        } onGap: { _ in
        }
        #expect(try await eventually { try await site.owner() != nil })
        // Who has not attached yet keeps it no longer than others' commands take.
        try await relay.ready(within: .seconds(300))
        let first = try await site.owner()
        let other = try site.relay()
        for number in 1...3 { _ = try await other.call(OrderBox(label: "\(number)", capacity: 5)) }
        #expect(await eventually { seen.withLock { $0 } == ["1", "2", "3"] })
        #expect(try await site.owner() == first)
        subscription.cancel()
        relay.invalidate()
        #expect(try await eventually { try await site.owner() == nil })
        await site.bus.stop()
    }
    @Test(
        "watch, tail and top start it as any subscriber does, and keep it; it exits when they have left, and stays away",
        arguments: [["watch"], ["tail", "--since", "start"], ["top", "--json"]])
    func watchers(verb: [String]) async throws {
        let site = try await Site("--idle-exit 0")
        let program = try RunningProgram(
            Programs.cli, ["--bus", site.bus.address, "--service", LiveService.name] + verb,
            environment: Programs.environment())
        if verb == ["top", "--json"] {
            let outcome = await program.outcome()
            #expect(outcome.code == 0 && !outcome.output.isEmpty, "\(outcome)")
        } else {
            try await program.line(containing: "watching \(LiveService.name)")
            var owners: Set<Int32?> = []
            for label in ["Kitchen", "Hall", "Attic"] {
                // Between two of these calls the service is idle, but for its subscriber.
                let relay = try site.relay()
                _ = try await relay.call(OrderBox(label: label, capacity: 10))
                relay.invalidate()
                try await program.line(containing: "title=\"\(label)\"")
                owners.insert(try await site.owner())
            }
            #expect(owners.count == 1 && owners != [nil])
            #expect(await program.terminate().code == 0)
        }
        #expect(try await eventually { try await site.owner() == nil })
        await site.bus.stop()
    }
    @Test("of many calls to a service that ends behind each, none fails and none runs twice") func manyRuns()
        async throws
    {
        let site = try await Site("--idle-exit 0")
        let (callers, rounds) = (3, TestForm.rounds(20, soak: 334))
        let monitor = try RunningProgram(
            "dbus-monitor",
            ["--address", site.bus.address, "type='signal',member='NameOwnerChanged',arg0='\(LiveService.name)'"])
        try await monitor.line(containing: "NameLost")
        var labels = try await withThrowingTaskGroup(of: [String].self) { group in
            for caller in 1...callers {
                let relay = try site.relay()
                group.addTask {
                    var labels: [String] = []
                    for round in 1...rounds {
                        labels.append("\(caller)-\(round)")
                        // Behind each call the service ends: the others' calls meet that at every moment.
                        _ = try await relay.call(OrderBox(label: "\(caller)-\(round)", capacity: 5))
                    }
                    return labels
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        let relay = try site.relay()
        // On a busy machine there is always another call under way, and it ends seldom. One caller alone ends it behind each call.
        let ends = 2 + rounds / 2
        var alone = 0
        while monitor.output.count(where: { $0.contains("member=NameOwnerChanged") }) < ends, alone < 100 * ends {
            alone += 1
            labels.append("alone-\(alone)")
            _ = try await relay.call(OrderBox(label: "alone-\(alone)", capacity: 5))
        }
        var inventory = FollowedContents()
        repeat {
            inventory.add(try await relay.call(Contents(after: inventory.next)))
        } while !inventory.isWhole
        #expect(inventory.boxes.values.map(\.title).sorted() == labels.sorted())
        // It did begin and end many times.
        try await monitor.line(containing: "member=NameOwnerChanged", count: ends)
        _ = await monitor.terminate()
        try await site.end()
    }
    @Test("who subscribes at any moment of an idle exit keeps the service or has it started again, and has no gap")
    func subscribesAtTheEnd() async throws {
        let site = try await Site("--idle-exit 0")
        let caller = try site.relay()
        for round in 1...TestForm.rounds(12, soak: 400) {
            // Behind the call the service ends: the subscription meets that at every moment.
            _ = try await caller.call(OrderBox(label: "call \(round)", capacity: 5))
            usleep(.random(in: 0...4_000))
            // One that found it for the call, and one that finds it now.
            let relay = round.isMultiple(of: 2) ? caller : try site.relay()
            let (titles, gaps) = (Log<String>(), Log<Gap>())
            let subscription = relay.publisher.subscribe(to: BoxProvisioned.self, delivery: .immediate) {
                titles.add($0.title)
            } onGap: {
                gaps.add($0)
            }
            // Calls that start nothing: whoever keeps the service, or has it started, is the subscriber.
            var sent: [String] = []
            func order() async throws -> Bool {
                let label = "\(round)-\(sent.count)"
                let outcome = try await RunningProgram.run(
                    "busctl",
                    [
                        "--address=\(site.bus.address)", "--auto-start=no", "call", LiveService.name,
                        LiveService.object, LiveService.interface, "OrderBox", "si", label, "5",
                    ], environment: Programs.environment())
                if outcome.code == 0 { sent.append(label) }
                return outcome.code == 0
            }
            #expect(
                try await eventually {
                    _ = try await order()
                    return titles.values.contains { $0.hasPrefix("\(round)-") }
                }, "round \(round): nobody has started it")
            for _ in 1...2 { #expect(try await order()) }
            let last = sent.last
            #expect(await eventually { titles.values.last == last })
            let seen = titles.values.filter { $0.hasPrefix("\(round)-") }
            #expect(seen == Array(sent.suffix(seen.count)) && gaps.values.isEmpty, "\(gaps.values)")
            subscription.cancel()
            if relay !== caller { relay.invalidate() }
        }
        caller.invalidate()
        #expect(try await eventually { try await site.owner() == nil })
        await site.bus.stop()
    }
    @Test(
        "a service that is killed within a call: the caller learns that it may have run, and the next call starts another"
    )
    func killed() async throws {
        let site = try await Site("--idle-exit 3600")
        let relay = try site.relay()
        _ = try await relay.call(OrderBox(label: "Kitchen", capacity: 10))
        let process = try #require(try await site.owner())
        kill(process, SIGSTOP)
        #expect(await eventually { ProcessState.isStopped(process) })
        let monitor = try RunningProgram(
            "dbus-monitor", ["--address", site.bus.address, "type='method_call',member='OrderBox'"])
        try await monitor.line(containing: "NameLost")
        async let outcome = relay.outcome(of: OrderBox(label: "Hall", capacity: 10))
        // The bus has brought it there.
        try await monitor.line(containing: "member=OrderBox")
        kill(process, SIGKILL)
        if case .failed(let error) = await outcome {
            #expect(error.code == .unavailable && error.mayHaveRun, "\(error)")
        } else {
            Issue.record("it was answered")
        }
        _ = try await relay.call(OrderBox(label: "Attic", capacity: 10))
        let next = try await site.owner()
        #expect(next != nil && next != process)
        #expect(try await relay.call(Contents()).boxes.map(\.title) == ["Kitchen", "Attic"])
        _ = await monitor.terminate()
        try await site.end()
    }
}
