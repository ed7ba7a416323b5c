import Glibc
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore
import RelayWire

/// Another user floods a relay, on a bus with the system bus's limits, while the relay's service restarts.
@Suite("Relays that are flooded", .heavy, .tags(.g2, .g6)) struct FloodTests {
    private func service(_ bus: PrivateBus) async throws -> EventService {
        let service = try EventService(name: Desk.name, on: bus.bus, exporting: Plain1.self)
        try await service.start()
        return service
    }
    /// The last word of a service has reached a witness: it stands at this sequence.
    private func hasHeard(_ witness: BusStranger, _ sequence: UInt64) async -> Bool {
        await eventually { witness.signals.last { $0.member == "Head" }?.values.dropFirst().first == .uint64(sequence) }
    }
    /// In which order, and whether anything else is there.
    private func lines(_ log: RelayLog) -> [String] { log.all.filter { $0 != "interrupted" && $0 != "active" } }

    @Test(
        "a relay that lost a departure and an arrival, and the bus's answer, comes back with an exact gap",
        arguments: [false, true])
    func volatile(losesAnswer: Bool) async throws {
        let bus = try DescriptorFlood.openBus()
        let witness = try await BusStranger.join(bus.bus)
        let log = try RelayLog(bus.bus, isOnSignals: true)
        await log.activate()
        let first = try await service(bus)
        #expect(await log.wait(for: "active"))
        try first.publish(Said(thread: 0, number: 1))
        #expect(await log.wait(for: "1"))

        let core = log.relay.follower.core
        #expect(await core.isConfirmed())
        let name = try #require(core.loop.withTurn { core.owner.connection?.uniqueName })
        let standing = await StandingLoop(core.loop)
        let flood = try DescriptorFlood(of: name, at: bus.address)
        #expect(try await flood.hasMuted(by: witness))
        if losesAnswer { await standing.perform { core.owner.askForOwner() } }
        try await first.stop()
        let second = try await service(bus)
        for number in Int64(1)...3 { try second.publish(Said(thread: 0, number: number)) }
        // All of that went nowhere.
        #expect(try await DescriptorFlood.waiting(for: name, by: witness) > 64)
        await flood.end()
        standing.letGo()
        // Without another event, and without another word of the service.
        #expect(await log.wait(for: "gap 1-3 lost"), "\(log.all)")
        #expect(await log.wait(for: "active", count: 2))
        try second.publish(Said(thread: 0, number: 4))
        #expect(await log.wait(for: "4"))
        #expect(lines(log) == ["1", "gap 2- epochChanged", "gap 1-3 lost", "4"], "\(log.all)")
        try await second.stop()
    }
    @Test("a relay that lost events of a service that goes on misses none for long, though nothing follows")
    func sameService() async throws {
        let flooded = try await FloodedLedger(isOnSignals: true)
        let desk = flooded.desk
        for number in Int64(2)...5 { try await desk.service.publish(Booked(number: number, text: "")) }
        // The service announces where it stands once the stream is quiet, and that is lost, too.
        #expect(await hasHeard(desk.peer, 5))
        try await flooded.recover()
        try await desk.stop()
    }
    @Test(
        "a durable relay has all events, whatever the bus did not say of a restart, and of its credentials",
        arguments: [false, true])
    func durable(isOnSignals: Bool) async throws {
        let flooded = try await FloodedLedger(isOnSignals: isOnSignals)
        let restarted = try await flooded.desk.restarted()
        for number in Int64(2)...5 { try await restarted.service.publish(Booked(number: number, text: "")) }
        try await flooded.recover()
        try await restarted.stop()
    }
    @Test("a match rule that is no longer wanted, and whose answer was lost, leaves its relay alone")
    func unwantedRule() async throws {
        let bus = try DescriptorFlood.openBus()
        let witness = try await BusStranger.join(bus.bus)
        let log = try RelayLog(bus.bus, isOnSignals: true, timing: RelayTiming { $0.bus.answer = .seconds(1) })
        await log.activate()
        let service = try await service(bus)
        #expect(await log.wait(for: "active"))
        let core = log.relay.follower.core
        let name = try #require(core.loop.withTurn { core.owner.connection?.uniqueName })
        let standing = await StandingLoop(core.loop)
        let flood = try DescriptorFlood(of: name, at: bus.address)
        #expect(try await flood.hasMuted(by: witness))
        let last = Mutex<Result<BusReply, RelayError>?>(nil)
        await standing.perform {
            let rules = ["org.example.A1", "org.example.A2"].map { MatchRule(sender: Desk.name, interface: $0) }
            core.owner.addMatch(rules[0], "pass on org.example.A1") { _ in }
            // Asked for behind it, so that its time is over later.
            core.owner.connection?.addMatch(rules[1]) { answer in last.withLock { $0 = answer } }
            for rule in rules { core.owner.removeMatch(rule) }
        }
        #expect(try await DescriptorFlood.waiting(for: name, by: witness) > 64)
        await flood.end()
        standing.letGo()
        #expect(await eventually { last.withLock { $0 } != nil })
        #expect(last.withLock { $0 }?.code == .timedOut)
        // The bus drops what is for the relay until that has read what was sent before.
        #expect(try await eventually { try await DescriptorFlood.waiting(for: name, by: witness) == 0 })
        try service.publish(Said(thread: 0, number: 1))
        #expect(await log.wait(for: "1"))
        #expect(!log.all.contains { $0.hasPrefix("invalidated") }, "\(log.all)")
        try await service.stop()
    }
    @Test("a match rule whose answer was lost is asked for again, and the bus has it once") func matchRule()
        async throws
    {
        let bus = try DescriptorFlood.openBus()
        let witness = try await BusStranger.join(bus.bus)
        let loop = try BusLoop(name: "flooded")
        defer { loop.stop() }
        let handler = RecordingHandler()
        let connection = try await BusConnection.connect(to: bus.bus, on: loop, handler: handler)
        let standing = await StandingLoop(loop)
        let flood = try DescriptorFlood(of: connection.uniqueName, at: bus.address)
        #expect(try await flood.hasMuted(by: witness))
        let result = Mutex<Result<BusReply, RelayError>?>(nil)
        let rule = MatchRule(sender: witness.connection.uniqueName, interface: "org.example.A1")
        connection.addMatch(rule) { answer in result.withLock { $0 = answer } }
        #expect(try await eventually { try await rules(of: connection.uniqueName, by: witness) == 1 })
        await flood.end()
        standing.letGo()
        #expect(await eventually { result.withLock { $0 } != nil })
        #expect(result.withLock { $0 }?.code == nil)
        #expect(try await rules(of: connection.uniqueName, by: witness) == 1)
        #expect(connection.rules == [rule: 1])
        try witness.connection.send(.test(nil))
        #expect(await eventually { handler.signals.contains { $0.member == "Went" } })
        connection.close()
    }
    private func rules(of name: String, by witness: BusStranger) async throws -> Int {
        let bus = "org.freedesktop.DBus"
        let all = try await witness.call(bus, "/org/freedesktop/DBus", bus + ".Debug.Stats", "GetAllMatchRules")
        guard case .dictionary(_, let entries)? = all.first else { return 0 }
        for entry in entries where entry.key == .string(name) {
            if case .array(_, let rules) = entry.value { return rules.count }
        }
        return 0
    }
    @Test("the client that was written from the protocol's page comes back, too", arguments: [[], ["--ring"]])
    func python(options: [String]) async throws {
        let bus = try DescriptorFlood.openBus()
        let witness = try await BusStranger.join(bus.bus)
        try await witness.listen(Stream1.name)
        let first = try await service(bus)
        let before = try await peers(witness)
        // Its modules are not to be compiled into a folder of the sources.
        let client = try RunningProgram(
            "/usr/bin/python3",
            ["-B", Self.client, "--bus", bus.address, "--service", Desk.name] + options + [Plain1.name])
        #expect(try await eventually { try await peers(witness).subtracting(before).count == 1 })
        let name = try #require(await peers(witness).subtracting(before).first)
        // Until it follows, and has had the last.
        var count = 0
        #expect(
            try await eventually {
                count += 1
                try first.publish(Said(thread: 0, number: Int64(count)))
                return await eventually(within: .milliseconds(500)) {
                    client.output.last?.hasPrefix("event \(count) ") == true
                }
            })
        #expect(await hasHeard(witness, UInt64(count)))
        let seen = client.output.count
        client.signal(SIGSTOP)
        let flood = try DescriptorFlood(of: name, at: bus.address)
        #expect(try await flood.hasMuted(by: witness))
        try await first.stop()
        let second = try await service(bus)
        for number in Int64(1)...3 { try second.publish(Said(thread: 0, number: number)) }
        #expect(try await DescriptorFlood.waiting(for: name, by: witness) > 64)
        await flood.end()
        client.signal(SIGCONT)
        try await client.line(containing: "gap 1 3 lost")
        try second.publish(Said(thread: 0, number: 4))
        // Of each run everything once, as an event or in a gap. A ring keeps the last word of its run.
        let expected = (options.isEmpty ? ["gap \(count + 1) ?"] : []) + ["gap 1 3", "event 4 Said"]
        #expect(await eventually { client.output.count >= seen + expected.count })
        let all = client.output.map { $0.split(separator: " ").prefix(3).joined(separator: " ") }
        #expect(Array(all.dropFirst(seen)) == expected, "\(client.output)")
        _ = await client.terminate()
        try await second.stop()
    }
    private static var client: String {
        let root = String(#filePath).split(separator: "/", omittingEmptySubsequences: false).dropLast(5)
        return root.joined(separator: "/") + "/Examples/python/relay_client.py"
    }
    private func peers(_ witness: BusStranger) async throws -> Set<String> {
        let bus = "org.freedesktop.DBus"
        guard case .array(_, let names)? = try await witness.call(bus, "/org/freedesktop/DBus", bus, "ListNames").first
        else { return [] }
        return Set(names.compactMap { if case .string(let name) = $0, name.hasPrefix(":") { name } else { nil } })
    }
}
