import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore
@testable import RelayJournal
import RelayWire

private enum Till1: EventInterface {
    static let name = "org.example.MirroredTill1"
    static var contract: Contract<Self> { Sold.self }
    struct Sold: DomainEvent, Equatable {
        typealias Interface = Till1
        let amount: Int64
    }
}

@Suite("A mirror's journal, served on a bus", .heavy, .tags(.g2, .g6)) struct ReplicaServiceTests {
    private static let name = "org.example.MirroredTill"

    private static func part(
        _ epoch: UInt64, from first: UInt64, _ amounts: Int64...,
        change: (inout ReplicaTransaction.Part) -> Void = { _ in }
    ) -> ReplicaTransaction {
        var part = ReplicaTransaction.Part(Till1.name)
        part.schemas = [5: EventSchema(event: "Sold", fields: [WireField(name: "amount", type: .int64)])]
        var (rows, bytes): ([ReplicaEvents.Event], [UInt8]) = ([], [])
        for (place, amount) in amounts.enumerated() {
            var writer = WireWriter()
            writer.int64(amount)
            let sequence = first + UInt64(place)
            Stamp(
                epoch: epoch, sequence: sequence, previous: sequence - 1,
                publishedAt: Timestamp(microseconds: sequence)
            ).write(into: &writer)
            let body = writer.takeBytes()
            rows.append(.init(schema: 5, body: bytes.count..<bytes.count + body.count))
            bytes += body
        }
        part.events = ReplicaEvents(epoch: epoch, first: first, rows, in: bytes)
        change(&part)
        return ReplicaTransaction([part])
    }

    @Test("a subscriber gets the origin's epochs and sequences, gaps, and what a truncation undoes") func served()
        async throws
    {
        let bus = try PrivateBus()
        let replica = try ReplicaJournal(directory: TestFolder().path)
        func serve(_ epoch: UInt64) async throws -> EventService {
            let service = try EventService(
                Self.name, bus.bus, [Till1.self], journal: replica.log,
                mirroring: [Till1.name: MirroredRun(epoch: epoch, isOpen: true)]
            ) { _ in }
            try await service.start()
            return service
        }
        try await replica.apply(
            Self.part(77, from: 1, 1, 2) { $0.runs = [StreamRun(epoch: 77, first: 1)] })
        try await replica.apply(Self.part(77, from: 6, 6) { $0.gap = 3...5 })
        let first = try await serve(77)
        let relay = try EventRelay(following: Self.name, on: bus.bus, interfaces: Till1.self)
        let seen = Mutex<[String]>([])
        let stream = try relay.events(of: Till1.Sold.self, from: .beginning)
        Task {
            for await delivery in stream {
                let text =
                    switch delivery {
                    case .event(let event, let stamp): "\(stamp.epoch) #\(stamp.sequence) \(event.amount)"
                    case .gap(let gap):
                        "\(gap.sequences.lowerBound)-\(gap.sequences.upperBound) \(gap.reason.rawValue)"
                    }
                seen.withLock { $0.append(text) }
            }
        }
        relay.activate()
        let old = ["77 #1 1", "77 #2 2", "3-5 unrecorded", "77 #6 6"]
        #expect(await eventually { seen.withLock { $0 } == old }, "\(seen.withLock { $0 })")
        try await replica.apply(Self.part(77, from: 7, 7))
        #expect(await eventually { seen.withLock { $0.last } == "77 #7 7" }, "\(seen.withLock { $0 })")
        // What ends the service's run is refused while it is there.
        let undone = Self.part(78, from: 2, 20, 30) {
            $0.keepsThrough = 1
            $0.runs = [StreamRun(epoch: 77, first: 1), StreamRun(epoch: 78, first: 2)]
        }
        let error = await #expect(throws: RelayError.self) { try await replica.apply(undone) }
        #expect(error?.code == .conflict)
        try await first.stop()
        await replica.detach()
        try await replica.apply(undone)
        let second = try await serve(78)
        #expect(await eventually { seen.withLock { $0.last } == "78 #3 30" }, "\(seen.withLock { $0 })")
        let news = seen.withLock { Array($0.dropFirst(5)) }
        #expect(news.count == 3 && news[0].hasSuffix("historyReplaced") && news[1] == "78 #2 20", "\(news)")
        relay.invalidate()
        try await second.stop()
        replica.close()
    }
}
