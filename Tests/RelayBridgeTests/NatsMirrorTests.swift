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
}
