import Glibc
import NatsSupport
import RelayCore
import RelayMirrors
import RelayTestKit
import TestTraits
import Testing

@testable import RelayBridge
import RelayWire

@Suite("Events for other consumers of NATS") struct CloudEventTests {
    /// What a consumer sees of a message.
    private struct Seen: Equatable {
        let id: String?
        let body: String
        var isGap: Bool { id?.hasSuffix("-gap") ?? false }
    }
    /// All messages of a stream.
    private func messages(_ hosts: HostsOverNATS, _ interface: String) throws -> [Seen] {
        let names = try names(interface)
        let connection = try NatsConnection(hosts.settings(), name: "test")
        guard let state = try connection.state(of: names.cloudEventStream), state.last >= state.first else { return [] }
        return try (state.first...state.last).map { number in
            let message = try connection.message(number, of: names.cloudEventStream)
            return Seen(id: message?.header("ce-id"), body: String(decoding: message?.bytes ?? [], as: UTF8.self))
        }
    }
    private func names(_ interface: String) throws -> NatsChannel {
        NatsChannel(try ChannelName(host: "kitchen", service: HostsOverNATS.name, interface: interface))
    }
    private func expect(
        _ numbers: [Int64], _ hosts: HostsOverNATS, _ comment: String, location: SourceLocation = #_sourceLocation
    ) async throws {
        let expected = numbers.map { "{\"number\":\($0)}" }
        var found: [Seen] = []
        let isThere = await eventually {
            found = ((try? messages(hosts, Notes1.name)) ?? []).filter { $0.id != nil }
            return found.map(\.body) == expected
        }
        #expect(isThere, "\(comment): \(found.suffix(5)), \(found.count)", sourceLocation: location)
        #expect(Set(found.map(\.id)).count == found.count, sourceLocation: location)
    }

    @Test("a message has an event's fields in JSON, and the headers of CloudEvents") func message() throws {
        let channel = try ChannelName(host: "kitchen", service: "org.example.Shop", interface: "org.example.Orders1")
        let stamp = Stamp(
            epoch: 5, sequence: 7, previous: 6, publishedAt: Timestamp(microseconds: 1_700_000_000_000_042))
        var writer = WireWriter()
        writer.int64(-3)
        try writer.string("Tea \"1\"\n")
        writer.align(8)
        stamp.write(into: &writer)
        let body = writer.takeBytes()
        func event(_ fields: [WireField]?) throws -> CloudEvent {
            let envelope = Envelope(
                interface: channel.interface, name: "Placed", signature: "xsttt", body: body, stamp: stamp,
                fields: fields)
            return try CloudEvent(.event(envelope, stamp), of: channel)
        }
        let named = try event([WireField(parsing: "order:x"), WireField(parsing: "article:s")])
        #expect(String(decoding: named.body, as: UTF8.self) == #"{"order":-3,"article":"Tea \"1\"\n"}"#)
        #expect(
            named.headers == [
                "ce-specversion": "1.0", "ce-id": "5-7", "ce-source": "relay://kitchen/org.example.Shop",
                "ce-type": "org.example.Orders1.Placed", "ce-time": "2023-11-14T22:13:20.000042Z",
                "content-type": "application/json",
            ])
        #expect(String(decoding: try event(nil).body, as: UTF8.self) == #"[-3,"Tea \"1\"\n"]"#)
        // Fields that are not the body's hold up nothing.
        #expect(try event([WireField(parsing: "order:as")]).body == (try event(nil).body))
        let gap = try CloudEvent(.gap(Gap(4...9, epoch: 5, count: nil, reason: .expired)), of: channel)
        #expect(gap.name == "Gap" && gap.headers["ce-id"] == "5-4-gap")
        #expect(
            String(decoding: gap.body, as: UTF8.self).hasPrefix(
                #"{"first":4,"last":9,"reason":"expired","description":""#))
        let names = NatsChannel(channel)
        #expect(names.cloudEventStream == "cloudevents~kitchen~org~example~Shop~~org~example~Orders1")
        #expect(names.cloudEventSubject("Placed") == "cloudevents.kitchen.org~example~Shop.org~example~Orders1.Placed")
        #expect(NatsChannel(stream: names.cloudEventStream) == nil)
    }
    @Test("an event's id is its place, and no other text is one") func places() {
        #expect(CloudEvent.place("5-7").map { [$0.epoch, $0.sequence] } == [5, 7])
        for text in ["", "5", "5-", "-7", "5-7-gap", "5-7-9", "a-7", "5-b", "5--7", " 5-7"] {
            #expect(CloudEvent.place(text) == nil, "\(text)")
        }
    }
    @Test(
        "each event is there once, whatever becomes of the server and of the bridge", .heavy, .tags(.g1, .g2, .g6),
        arguments: NatsServer.Release.allCases)
    func once(_ release: NatsServer.Release) async throws {
        let hosts = try await HostsOverNATS(release, "")
        try await hosts.publish(20)
        await hosts.makeCloudEvents()
        try await expect(Array(1...20), hosts, "at first")
        let names = try names(Notes1.name)
        let connection = try NatsConnection(hosts.settings(), name: "test")
        let newest = try connection.newest(names.cloudEventSubject("Noted"), of: names.cloudEventStream)?.number
        #expect(newest == 20)

        await hosts.end("cloudEvents")
        try await hosts.publish(20)
        await hosts.makeCloudEvents()
        try await expect(Array(1...40), hosts, "behind a restart of the bridge")

        // The old release syncs no message: what it forgets comes again.
        try await hosts.server.end(release == .recent ? SIGKILL : SIGTERM)
        try await hosts.publish(20)
        try await hosts.server.start()
        try await expect(Array(1...60), hosts, "behind an end of the server")

        try NatsAdministrator(hosts.server).publish("nonsense", to: names.cloudEventSubject("Noted"))
        try await hosts.publish(20)
        try await expect(Array(1...80), hosts, "behind what somebody else has written")

        try NatsAdministrator(hosts.server).delete(names.cloudEventStream)
        try await hosts.publish(1)
        try await expect(Array(1...81), hosts, "behind a stream that was deleted")
        try await hosts.stop()
    }
    @Test("what retention has removed meanwhile is in a gap, and all else is there", .heavy, .tags(.g2)) func gaps()
        async throws
    {
        let hosts = try await HostsOverNATS(.recent, "")
        try await hosts.publishBrief(5)
        await hosts.makeCloudEvents()
        #expect(try await eventually { try messages(hosts, Brief1.name).count == 5 })
        await hosts.end("cloudEvents")
        let count: UInt64 = 1_505
        try await hosts.publishBrief(Int(count) - 5)
        await hosts.makeCloudEvents()
        var found: [Seen] = []
        #expect(
            try await eventually {
                found = try messages(hosts, Brief1.name)
                return found.last?.body == "{\"number\":\(count)}"
            }, "\(found.suffix(3))")
        // When it removes them is the journal's affair.
        var next: UInt64 = 1
        for seen in found {
            if seen.isGap {
                let numbers = seen.body.split { !$0.isNumber }.compactMap { UInt64($0) }
                try #require(numbers.count > 1 && numbers[0] == next && numbers[1] >= next, "\(seen)")
                next = numbers[1] + 1
            } else {
                try #require(seen.body == "{\"number\":\(next)}" && seen.id?.hasSuffix("-\(next)") == true, "\(seen)")
                next += 1
            }
        }
        #expect(next == count + 1)
        try await hosts.stop()
    }
}
