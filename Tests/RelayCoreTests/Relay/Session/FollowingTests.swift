import BusProcess
import Glibc
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore
import RelayWire

@Suite("Following a service", .heavy, .tags(.g1, .g2)) struct FollowingTests {
    static let schemas = [
        EventSchema(
            event: "Said",
            fields: [
                WireField(name: "thread", type: .int32, swiftType: "Int32"),
                WireField(name: "number", type: .int64, swiftType: "Int64"),
            ])
    ]
    static func fake(_ bus: Bus, epoch: UInt64, ring: FakeService.Ring? = nil) async throws -> FakeService {
        try await FakeService.start(Desk.name, Plain1.name, on: bus, epoch: epoch, schemas: schemas, ring: ring)
    }
    static func said(_ number: Int64) -> [DBusValue] { [.int32(0), .int64(number)] }

    @Test("a service is followed from before it exists, through its orderly restart, without a gap")
    func orderlyRestart() async throws {
        let bus = try PrivateBus()
        let log = try RelayLog(bus.bus)
        await log.activate()
        for round in 1...3 {
            let service = try EventService(name: Desk.name, on: bus.bus, exporting: Plain1.self)
            // At once, long before the relay can have asked where this run stands.
            let running = Task {
                try await service.run {
                    for number in 1...3 { try? service.publish(Said(thread: 0, number: Int64(round * 10 + number))) }
                }
            }
            #expect(await log.wait(for: "\(round * 10 + 3)"))
            #expect(await log.wait(for: "active", count: round))
            running.cancel()
            try await running.value
            #expect(await log.wait(for: "interrupted", count: round))
        }
        let events = log.all.filter { $0.first?.isNumber == true }
        #expect(events == ["11", "12", "13", "21", "22", "23", "31", "32", "33"])
        #expect(!log.all.contains { $0.hasPrefix("gap") }, "\(log.all)")
        #expect(log.all.last == "interrupted", "a state comes after the events that preceded it")
    }
    @Test("a service that is killed leaves an open gap, and the next run is whole") func killed() async throws {
        let bus = try PrivateBus()
        let log = try RelayLog(bus.bus, requiring: .sameUser)
        await log.activate()
        let first = try await Self.fake(bus.bus, epoch: 1)
        try first.publish("Said", Self.said(11))
        #expect(await log.wait(for: "11"))
        #expect(await log.wait(for: "active"))
        first.vanish()
        #expect(await log.wait(for: "interrupted"))
        let second = try await Self.fake(bus.bus, epoch: 2)
        for number in 21...23 { try second.publish("Said", Self.said(Int64(number))) }
        #expect(await log.wait(for: "23"))
        #expect(await log.wait(for: "active", count: 2))
        #expect(log.all.filter { $0 != "active" } == ["11", "gap 2- epochChanged", "interrupted", "21", "22", "23"])
        second.vanish()
    }
    @Test("what is lost is found by the next event, by the head, and without either by asking") func loss()
        async throws
    {
        let bus = try PrivateBus()
        let log = try RelayLog(bus.bus)
        await log.activate()
        let began = ContinuousClock.now
        let service = try await Self.fake(bus.bus, epoch: 1)
        #expect(await log.wait(for: "active"))
        try service.publish("Said", Self.said(1))
        for number in 2...4 { try service.publish("Said", Self.said(Int64(number)), isLost: true) }
        try service.publish("Said", Self.said(5))
        #expect(await log.wait(for: "5"))
        // Of one name it is known which one was the last; that it is contiguous is not.
        #expect(log.all.suffix(3) == ["1", "gap 2-4 lost", "5"])
        try service.publish("Said", Self.said(6), isLost: true)
        try service.announce()
        #expect(await log.wait(for: "gap 6-6 lost"))
        let before = service.attaches
        try service.publish("Said", Self.said(7))
        try service.publish("Said", Self.said(8), isLost: true)
        #expect(await log.wait(for: "gap 8-8 lost"), "asked for when nothing comes for two seconds")
        // Once for each such silence: on a slow machine there may have been one before.
        let silences = (ContinuousClock.now - began) / .seconds(2)
        #expect(service.attaches > before && Double(service.attaches - 1) <= silences)
        service.vanish()
    }
    @Test("nobody can speak in the service's place", .tags(.g7)) func spoofing() async throws {
        let bus = try PrivateBus()
        let log = try RelayLog(bus.bus)
        await log.activate()
        let service = try await Self.fake(bus.bus, epoch: 1)
        #expect(await log.wait(for: "active"))
        let stranger = try await BusStranger.join(bus.bus)
        let names = try await stranger.call(
            "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "ListNames")
        guard case .array(_, let all)? = names.first else { return }
        var header = MessageHeader.signal(path: "/org/example/Plain1", interface: Plain1.name, member: "Said")
        let stamp: [DBusValue] = [.uint64(1), .uint64(0), .uint64(1)]
        try stranger.send(signal: header, Self.said(66) + stamp)
        var owner = MessageHeader.signal(
            path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus", member: "NameOwnerChanged")
        for case .string(let name) in all where name.hasPrefix(":") && name != stranger.connection.uniqueName {
            (header.destination, owner.destination) = (name, name)
            try stranger.send(signal: header, Self.said(66) + stamp)
            try stranger.send(
                signal: owner, [.string(Desk.name), .string(name), .string(stranger.connection.uniqueName)])
        }
        #expect(await eventually { log.relay.foreignSignals >= 2 })
        try service.publish("Said", Self.said(1))
        #expect(await log.wait(for: "1"))
        #expect(log.all.filter { $0 != "connecting" } == ["active", "1"])
        service.vanish()
    }
    @Test("an owner that does not meet the requirement is never believed") func wrongOwner() async throws {
        let bus = try PrivateBus()
        let log = try RelayLog(bus.bus, requiring: .user("no such user"))
        await log.activate()
        let service = try await Self.fake(bus.bus, epoch: 1)
        try service.publish("Said", Self.said(1))
        #expect(await log.wait(for: "invalidated NotPermitted"))
        #expect(log.all.last == "invalidated NotPermitted" && !log.all.contains("1"))
        service.vanish()
    }
    @Test("the relay comes back when the bus does, at the same address") func busRestart() async throws {
        let bus = try PrivateBus()
        let log = try RelayLog(bus.bus)
        await log.activate()
        let service = try await Self.fake(bus.bus, epoch: 1)
        try service.publish("Said", Self.said(1))
        #expect(await log.wait(for: "1"))
        #expect(await log.wait(for: "active"))
        bus.process.signal(SIGKILL)
        _ = await bus.process.waitForExit()
        #expect(await log.wait(for: "interrupted"))
        unlink("\(bus.directory)/bus")
        let again = try BusDaemon(directory: bus.directory)
        let second = try await Self.fake(bus.bus, epoch: 2)
        try second.publish("Said", Self.said(21))
        #expect(await log.wait(for: "active", count: 2))
        try second.publish("Said", Self.said(22))
        #expect(await log.wait(for: "22"))
        let after = log.all.drop { $0 != "interrupted" }.dropFirst().filter { $0 != "active" }
        // Its first event came before the relay was back, or after.
        #expect(
            after == ["gap 2- epochChanged", "gap 1-1 lost", "22"] || after == ["gap 2- epochChanged", "21", "22"])
        second.vanish()
        await again.stop()
    }
    @Test("match rules are few, and go with the last subscription") func matchRules() async throws {
        let bus = try PrivateBus()
        let log = try RelayLog(bus.bus)
        await log.activate()
        let service = try await Self.fake(bus.bus, epoch: 1)
        #expect(await log.wait(for: "active"))
        let peer = try await BusStranger.join(bus.bus)
        func rules() async throws -> [String] {
            let answer = try await peer.call(
                "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus.Debug.Stats", "GetAllMatchRules")
            guard case .dictionary(_, let entries)? = answer.first else { return [] }
            var texts: [String] = []
            for entry in entries {
                if case .array(_, let rules) = entry.value {
                    for case .string(let text) in rules { texts.append(text) }
                }
            }
            return texts
        }
        #expect(try await rules().count == 3)
        log.unsubscribe()
        #expect(try await eventually { try await rules().count == 1 })
        service.vanish()
    }
    @Test("a relay that is let go ends its thread, and whoever waits") func release() async throws {
        let bus = try PrivateBus()
        let service = try await Self.fake(bus.bus, epoch: 1)
        weak var loop: BusLoop?
        do {
            let follower = try ServiceFollower(service: Desk.name, on: bus.bus) { _ in }
            loop = follower.loop
            follower.activate()
            let waiting = Task {
                do {
                    _ = try await follower.call(interface: Plain1.name, member: "Never")
                    return RelayError.Code.internalFailure
                } catch {
                    return (error as? RelayError)?.code ?? .internalFailure
                }
            }
            // The fake one answers this, and not the other: that it has both.
            _ = try await follower.call(
                path: "/org/example/Plain1", interface: Stream1.name, member: "Schemas")
            follower.invalidate()
            #expect(await waiting.value == .unavailable)
        }
        #expect(await eventually { loop == nil })
        service.vanish()
    }
}
