import Glibc
import NatsSupport
import RelayCore
import RelayMirrors
import RelayTestKit
import TestTraits
import Testing

@testable import RelayBridge

@Suite("A mirror over NATS", .heavy, .tags(.g1, .g2, .g6)) struct NatsMirrorTests {
    private var channel: NatsChannel {
        get throws {
            NatsChannel(
                try ChannelName(host: "kitchen", service: HostsOverNATS.name, interface: Notes1.name))
        }
    }
    private func caughtUp(_ hosts: HostsOverNATS, _ comment: String = "") async {
        #expect(await eventually { await hosts.isCaughtUp() }, "\(comment): \(hosts.status)")
    }

    @Test("it has the origin's events, whatever becomes of the server", arguments: NatsServer.Release.allCases)
    func server(_ release: NatsServer.Release) async throws {
        let hosts = try await HostsOverNATS(release)
        try await hosts.publish(20)
        await caughtUp(hosts, "at first")

        try await hosts.server.end(SIGTERM)
        try await hosts.server.backUp("copy")
        try await hosts.publish(20)
        try await hosts.server.start()
        await caughtUp(hosts, "behind an end")

        try await hosts.server.end()
        try await hosts.server.restore("copy")
        try await hosts.publish(20)
        try await hosts.server.start()
        await caughtUp(hosts, "behind an older copy")

        let administrator = try NatsAdministrator(hosts.server)
        try administrator.delete(try channel.stream)
        try await hosts.publish(20)
        await caughtUp(hosts, "behind a stream that was deleted")

        try administrator.publish("nonsense", to: try channel.subject(.page))
        try administrator.publish("nonsense", to: try channel.subject(.snapshot))
        try await hosts.publish(20)
        await caughtUp(hosts, "behind what somebody else has written")

        hosts.server.signal(SIGSTOP)
        try await hosts.publish(20)
        // In the soak, longer than connections live without an answer.
        if TestForm.isSoak { try await Task.sleep(for: .seconds(60)) }
        hosts.server.signal(SIGCONT)
        try await hosts.publish(20)
        await caughtUp(hosts, "behind a server that stood still")
        #expect(try await hosts.isWhole(140))
        try await hosts.stop()
    }
    @Test("what the server forgets and the origin has removed is a gap: these tests would notice a loss") func loss()
        async throws
    {
        let hosts = try await HostsOverNATS(.debian)
        try await hosts.publishBrief(5)
        #expect(await eventually { await hosts.isBriefCaughtUp() }, "\(hosts.status)")
        await hosts.end("mirror")
        try await hosts.server.end(SIGTERM)
        try await hosts.server.backUp("copy")
        try await hosts.server.start()
        try await hosts.publishBrief(100)
        #expect(await eventually { await hosts.isBriefExported() }, "\(hosts.status)")
        #expect(try await eventually { try await hosts.oldestBrief() > 6 })
        try await hosts.server.end()
        try await hosts.server.restore("copy")
        try await hosts.server.start()
        try await hosts.follow()
        #expect(await eventually { await hosts.isBriefCaughtUp() }, "\(hosts.status)")
        let relay = try hosts.relay()
        let events = try relay.events(of: Brief1.Noted.self, from: .beginning)
        relay.activate()
        var (numbers, gaps): ([Int64], [Gap]) = ([], [])
        for await delivery in events {
            switch delivery {
            case .event(let event, _): numbers.append(event.number)
            case .gap(let gap): gaps.append(gap)
            }
            if numbers.last == 105 { break }
        }
        relay.invalidate()
        let next = try #require(numbers.dropFirst(5).first)
        try #require(next > 6)
        #expect(numbers == Array(1...5) + Array(next...105), "\(numbers)")
        #expect(gaps.map(\.sequences) == [6...UInt64(next) - 1], "\(gaps)")
        try await hosts.stop()
    }
    @Test("a replica that was lost is built again, and its subscribers' positions stay valid") func rebuilding()
        async throws
    {
        let hosts = try await HostsOverNATS(.recent)
        let folder = try TestFolder()
        try await hosts.publish(300)
        await caughtUp(hosts)
        func take(_ count: Int) async throws -> [Int64] {
            let relay = try hosts.relay(cursors: folder.path)
            let events = try relay.events(of: Notes1.Noted.self, from: .resuming("ledger"))
            relay.activate()
            var numbers: [Int64] = []
            for await delivery in events {
                guard case .event(let entry, _) = delivery else { return [] }
                // The last one is not acknowledged.
                if numbers.count == count { break }
                numbers.append(entry.number)
            }
            relay.invalidate()
            return numbers
        }
        #expect(try await take(200) == Array(1...200))
        try await hosts.loseReplica()
        try await hosts.publish(50)
        try await hosts.follow()
        await caughtUp(hosts)
        #expect(try await take(149) == Array(201...349))
        try await hosts.stop()
    }
    @Test("who may write to another host's channels only as itself, cannot write as another") func permissions()
        async throws
    {
        let rules = """
            authorization { users: [
              { user: kitchen, password: kitchen, permissions: { publish: ["relay1.kitchen.>", "$JS.API.>"] } }
              { user: hall, password: hall, permissions: { publish: ["relay1.hall.>", "$JS.API.>"] } }
            ] }
            """
        let hosts = try await HostsOverNATS(.recent, rules)
        try await hosts.publish(3)
        try await hosts.export(user: "hall")
        #expect(
            await eventually { hosts.status.contains("Permissions Violation") }, "\(hosts.status)")
        await hosts.end("export")
        try await hosts.export(user: "kitchen")
        try await hosts.follow(user: "hall")
        await caughtUp(hosts)
        #expect(try await hosts.isWhole(3))
        await hosts.end("mirror")
        try await hosts.follow(user: "nobody")
        #expect(await eventually { hosts.status.contains("Authorization Violation") }, "\(hosts.status)")
        try await hosts.stop()
    }
    @Test("of three servers any one may be killed, and all of them in turn") func cluster() async throws {
        let servers = try await NatsServer.cluster(of: 3, .recent)
        let hosts = try await HostsOverNATS(servers, try PrivateBus(), try PrivateBus())
        try await hosts.export()
        try await hosts.follow()
        try await hosts.publish(20)
        await caughtUp(hosts, "at first")
        for (index, server) in servers.enumerated() {
            try await server.end()
            try await hosts.publish(20)
            await caughtUp(hosts, "without the server \(index)")
            try await server.start()
        }
        for server in servers { try await server.end() }
        try await hosts.publish(20)
        for server in servers { try await server.start() }
        await caughtUp(hosts, "after all had ended")
        #expect(try await hosts.isWhole(100))
        try await hosts.stop()
    }
    @Test("a second bridge for one origin is refused, and goes on where the first one ended") func secondBridge()
        async throws
    {
        let hosts = try await HostsOverNATS(.recent)
        try await hosts.publish(20)
        await caughtUp(hosts)
        let error = await #expect(throws: RelayError.self) { try await hosts.exporter().run() }
        #expect(
            error?.code == .conflict && error?.message.contains("has an exporter already") == true, "\(error as Any)")
        await hosts.end("export")
        try await hosts.publish(20)
        try await hosts.export()
        await caughtUp(hosts)
        #expect(try await hosts.isWhole(40))
        try await hosts.stop()
    }
    @Test("three hosts, each of which mirrors the next: each event is at each place once") func ring() async throws {
        let server = try await NatsServer(.recent, syncing: true)
        let buses = [try PrivateBus(), try PrivateBus(), try PrivateBus()]
        var ring: [HostsOverNATS] = []
        for (index, name) in ["kitchen", "hall", "office"].enumerated() {
            let hosts = try await HostsOverNATS([server], buses[index], buses[(index + 1) % 3], host: name)
            try await hosts.export()
            try await hosts.follow()
            ring.append(hosts)
        }
        for round in 1...3 {
            for hosts in ring { try await hosts.publish(20 * round) }
            for hosts in ring { await caughtUp(hosts, "round \(round)") }
        }
        for hosts in ring { #expect(try await hosts.isWhole(120)) }
        // Nothing of what came to a host has left it again.
        let channels = try await NatsCarrier(ring[0].settings()).channels()
        #expect(Set(channels.map(\.host)) == ["kitchen", "hall", "office"] && channels.count == 6, "\(channels)")
        for hosts in ring { try await hosts.stop() }
    }
    @Test("a server without room is waited for, and nothing is lost", arguments: NatsServer.Release.allCases)
    func fullServer(_ release: NatsServer.Release) async throws {
        let hosts = try await HostsOverNATS(release)
        try await hosts.publish(20)
        await caughtUp(hosts)
        try await hosts.server.end(SIGTERM)
        hosts.server.limit(to: "100KB")
        try await hosts.server.start()
        try await hosts.publishAtOnce(50_000)
        #expect(await eventually { hosts.status.contains("insufficient") }, "\(hosts.status)")
        try await hosts.server.end(SIGTERM)
        hosts.server.limit(to: "4GB")
        try await hosts.server.start()
        await caughtUp(hosts)
        #expect(try await hosts.isWhole(50_020))
        try await hosts.stop()
    }
    @Test(
        "a mirror without room says so, serves what it has, and goes on when there is room: nothing is lost or doubled",
        arguments: NatsServer.Release.allCases)
    func fullMirror(_ release: NatsServer.Release) async throws {
        let disk = try FaultDisk()
        let hosts = try await HostsOverNATS(release, disk: disk)
        try await hosts.publish(20)
        await caughtUp(hosts)
        let last: Int64 = 20_040
        async let heard = hosts.numbers(through: last)
        disk.room = 100_000
        try await hosts.publishAtOnce(20_000)
        // The exporter and the server have room.
        #expect(await eventually { await hosts.isExported() }, "\(hosts.status)")
        #expect(await eventually { hosts.trouble?.contains("full") == true }, "\(hosts.status)")
        #expect(await hosts.mirrored() < 20_020)
        #expect(try await hosts.isWhole(20))

        try await hosts.publish(20)
        #expect(await eventually { await hosts.isExported() }, "\(hosts.status)")
        #expect(await hosts.mirrored() < 20_020)
        // So does one that starts without room.
        await hosts.end("mirror")
        try await hosts.follow()
        #expect(await eventually { hosts.trouble?.contains("full") == true }, "\(hosts.status)")
        disk.room = nil
        await caughtUp(hosts)
        #expect(hosts.trouble == nil, "\(hosts.status)")
        #expect(try await hosts.isWhole(last))
        #expect(try await heard == Array(1...last))
        try await hosts.stop()
    }
    @Test("a backlog is caught up with while publishing goes on") func backlog() async throws {
        let hosts = try await HostsOverNATS(.recent, "")
        let count = TestForm.rounds(20_000, soak: 10_000_000)
        try await hosts.publishAtOnce(count)
        try await hosts.export()
        try await hosts.follow()
        var more: Int64 = 0
        while await hosts.mirrored() < UInt64(count) || more < 100 {
            try await hosts.publish(10)
            more += 10
        }
        await caughtUp(hosts)
        #expect(try await hosts.isWhole(Int64(count) + more))
        try await hosts.stop()
    }
}
