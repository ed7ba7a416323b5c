import Glibc
import NatsSupport
import RelayCore
import RelayMirrors
import RelayTestKit
import TestTraits
import Testing

@testable import RelayBridge

/// A channel of one server.
private struct Site {
    let server: NatsServer
    let carrier: NatsCarrier
    let channel: ChannelName

    init(_ release: NatsServer.Release, _ change: (inout NatsSettings) -> Void = { _ in }) async throws {
        server = try await NatsServer(release)
        var settings = NatsSettings(servers: [server.url])
        settings.patience = .seconds(60)
        change(&settings)
        carrier = NatsCarrier(settings)
        channel = try ChannelName(host: "kitchen", service: "org.example.Ledger", interface: "org.example.Ledger1")
    }
    func sink() async throws -> any MirrorSink { try await carrier.sink(of: channel) }
    func source() async throws -> any MirrorSource { try await carrier.source(of: channel) }

    /// A message that shows its number, of so many bytes; of a kind, or foreign.
    static func message(_ number: UInt64, size: Int = 40, kind: MirrorHeader.Kind? = nil) -> [UInt8] {
        let body = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: size)
        guard let kind else { return body }
        let header =
            kind == .page
            ? MirrorHeader.page(of: number...number, epoch: 1, journal: 1, writer: 1)
            : MirrorHeader.snapshot(at: number, epoch: 1, journal: 1, writer: 1)
        return MirrorMessage(header, body: body).bytes
    }
    /// Adds messages behind what is there.
    func fill(_ sink: any MirrorSink, _ count: Int, size: Int = 40, kind: MirrorHeader.Kind? = nil) async throws {
        var last = try await sink.bounds().last
        for _ in 0..<count {
            let isAdded = try await sink.append(Self.message(last + 1, size: size, kind: kind), expecting: last)
            if !isAdded { throw RelayError(.internalFailure, "not behind #\(last)") }
            last += 1
        }
    }
}

@Suite("Channels in NATS", .heavy, .tags(.g1, .g6)) struct NatsCarrierTests {
    @Test("a stream's name reads back as the channel's, and no other does") func names() throws {
        let name = try ChannelName(host: "kitchen", service: "org.example.Ledger", interface: "org.example.Ledger1")
        let channel = NatsChannel(name)
        #expect(channel.stream == "relay1~kitchen~org~example~Ledger~~org~example~Ledger1")
        #expect(channel.subject(.page) == "relay1.kitchen.org~example~Ledger.org~example~Ledger1.page")
        #expect(channel.subjects == "relay1.kitchen.org~example~Ledger.org~example~Ledger1.*")
        #expect(NatsChannel(stream: channel.stream)?.name == name)
        for other in [
            "", "ORDERS", "relay1~~", "relay1~kitchen~~org~example~Ledger1", "relay2~a~b~c~~d~e", "relay1~A~b~c~~d~e",
        ] {
            #expect(NatsChannel(stream: other) == nil, "\(other)")
        }
    }
    @Test("messages come back by their numbers, in any order and many at once", arguments: NatsServer.Release.allCases)
    func reading(_ release: NatsServer.Release) async throws {
        let site = try await Site(release)
        let sink = try await site.sink()
        func expected(_ number: UInt64) -> [UInt8] {
            let kind: MirrorHeader.Kind? = number % 100 == 7 ? .snapshot : number % 3 == 0 ? nil : .page
            return Site.message(number, size: Int(number) * 97 % 9_000, kind: kind)
        }
        for number in 1...300 as ClosedRange<UInt64> {
            #expect(try await sink.append(expected(number), expecting: number - 1))
        }
        #expect(try await sink.bounds() == ChannelBounds(first: 1, last: 300))
        let source = try await site.source()
        for number in [150, 1, 300, 0, 301, 77] as [UInt64] {
            let message = try await source.message(number)
            #expect(message == ((1...300).contains(number) ? expected(number) : nil), "#\(number)")
        }
        #expect(try await source.newest(.snapshot) == 207)
        #expect(try await source.newest(.page) == 299)
        for limit in [1, 10_000, 1 << 20] {
            let source = try await site.source()
            var next: UInt64 = limit == 1 ? 290 : 1
            while next <= 300, let batch = try await source.messages(from: next, atMost: limit) {
                #expect(batch.first == next && batch.count > 0)
                var bytes = 0
                for index in 0..<batch.count {
                    let message = batch.withMessage(index) { Array($0) }
                    #expect(message == expected(next + UInt64(index)))
                    bytes += message.count
                }
                #expect(bytes <= limit || batch.count == 1)
                next += UInt64(batch.count)
            }
            #expect(next == 301)
        }
        // From the middle, and back.
        #expect(try await source.messages(from: 200, atMost: 1)?.first == 200)
        #expect(try await source.messages(from: 10, atMost: 1)?.first == 10)
        #expect(try await site.carrier.channels() == [site.channel])
    }
    @Test(
        "an append goes behind the number that it expects, 0 too, or nowhere", arguments: NatsServer.Release.allCases)
    func expectations(_ release: NatsServer.Release) async throws {
        let site = try await Site(release)
        let (one, other) = (try await site.sink(), try await site.sink())
        #expect(try await one.append([1], expecting: 0))
        #expect(try await !other.append([2], expecting: 0))
        #expect(try await !other.append([2], expecting: 2))
        #expect(try await other.append([2], expecting: 1))
        #expect(try await one.bounds() == ChannelBounds(first: 1, last: 2))
        #expect(try await one.message(2) == [2])
        let error = await #expect(throws: RelayError.self) {
            try await one.append([UInt8](repeating: 0, count: 3 << 20), expecting: 2)
        }
        #expect(error?.code == .tooLarge && error?.message.contains("max_payload") == true, "\(error as Any)")
    }
    @Test("a reader may come first, waits for what is appended, and hears that it was cancelled") func waiting()
        async throws
    {
        let site = try await Site(.debian)
        let source = try await site.source()
        #expect(try await source.bounds() == ChannelBounds(first: 1, last: 0))
        #expect(try await source.newest(.snapshot) == nil)
        #expect(try await source.message(1) == nil)
        let first = Task {
            try await source.wait(behind: 0)
            return try await source.bounds().last
        }
        let sink = try await site.sink()
        try await site.fill(sink, 1)
        #expect(try await first.value == 1)
        let second = Task { try await source.wait(behind: 1) }
        try await site.fill(sink, 1)
        try await second.value
        // What a wait has heard of is there to be read.
        #expect(try await source.messages(from: 2, atMost: 1_000)?.count == 1)
        let third = Task { try await source.wait(behind: 2) }
        third.cancel()
        let error = await #expect(throws: RelayError.self) { try await third.value }
        #expect(error?.code == .cancelled)
    }
    @Test("messages that the server has removed are gone, the others keep their numbers") func limits() async throws {
        let site = try await Site(.debian) { $0.limits.bytes = 50_000 }
        let sink = try await site.sink()
        try await site.fill(sink, 1, kind: .snapshot)
        try await site.fill(sink, 100, size: 3_000)
        let bounds = try await sink.bounds()
        #expect(bounds.last == 101 && bounds.first > 80)
        #expect(try await sink.message(1) == nil)
        #expect(try await sink.newest(.snapshot) == nil)
        let source = try await site.source()
        #expect(try await source.messages(from: 1, atMost: 1_000) == nil)
        #expect(try await source.messages(from: bounds.first, atMost: 1_000)?.first == bounds.first)
    }
    @Test(
        "a server's death ends the connections; what it has stored is there again",
        arguments: NatsServer.Release.allCases)
    func death(_ release: NatsServer.Release) async throws {
        let site = try await Site(release)
        let (sink, source) = (try await site.sink(), try await site.source())
        try await site.fill(sink, 5)
        var next: UInt64 = 1
        while next <= 5, let batch = try await source.messages(from: next, atMost: 1 << 20) {
            next += UInt64(batch.count)
        }
        #expect(next == 6)
        let waiting = Task { try await source.wait(behind: 5) }
        try await site.server.end()
        await #expect(throws: RelayError.self) { try await waiting.value }
        await #expect(throws: RelayError.self) { try await sink.append([6], expecting: 5) }
        await #expect(throws: RelayError.self) { try await source.message(1) }
        await #expect(throws: RelayError.self) { try await site.source().bounds() }
        try await site.server.start()
        // It did not reconnect by itself.
        await #expect(throws: RelayError.self) { try await sink.bounds() }
        #expect(try await site.source().bounds().last == 5)
    }
    @Test("a stream that was deleted, or put back from an older copy, ends the connections that knew it") func setBack()
        async throws
    {
        let site = try await Site(.recent)
        let sink = try await site.sink()
        try await site.fill(sink, 3)
        try await site.server.end(SIGTERM)
        try await site.server.backUp("copy")
        try await site.server.start()
        let again = try await site.sink()
        try await site.fill(again, 3)
        try await site.server.end(SIGTERM)
        try await site.server.restore("copy")
        try await site.server.start()
        await #expect(throws: RelayError.self) { try await again.bounds() }
        let third = try await site.sink()
        #expect(try await third.bounds() == ChannelBounds(first: 1, last: 3))
        try NatsAdministrator(site.server).delete(NatsChannel(site.channel).stream)
        let error = await #expect(throws: RelayError.self) { try await third.bounds() }
        #expect(error?.code == .conflict)
    }
}
