import RelayCore
import RelayTestKit
import TestTraits
import Testing

@testable import RelayJournal
import RelayInspection

private enum Source1: EnumInterface {
    case counted(Counted), named(Named)
    static let name = "org.example.Source1"
    static var contract: Contract<Self> {
        counted
        named
    }
}
private struct Counted: DomainEvent, Equatable {
    typealias Interface = Source1
    var number: Int64
}
private struct Named: DomainEvent, Equatable {
    typealias Interface = Source1
    var name: String
}
private enum Target1: EventInterface {
    static let name = "org.example.Target1"
    static var contract: Contract<Self> { Doubled.self }
}
private struct Doubled: DomainEvent, Equatable {
    typealias Interface = Target1
    var number: Int64
}
private struct Refused: Error {}

/// Two services: the second one makes events of the first one's.
private final class Pair: Sendable {
    static let (source, target) = ("org.example.Source", "org.example.Target")
    let harness = TestHarness(limit: .testLimit)
    let folder: TestFolder
    let log: MemoryLog
    let journal: EventJournal
    let source: EventService
    let target: EventService
    let relay: EventRelay

    init(_ folder: TestFolder, _ log: MemoryLog = MemoryLog()) async throws {
        (self.folder, self.log) = (folder, log)
        journal = try EventJournal(directory: folder.path, onNotice: { _ in })
        source = try EventService(name: Self.source, on: harness.bus, exporting: Source1.self, journal: log)
        target = try EventService(name: Self.target, on: harness.bus, exporting: Target1.self, journal: journal)
        try await harness.start(source)
        try await harness.start(target)
        relay = try EventRelay(
            following: Self.source, on: harness.bus, interfaces: Source1.self,
            timing: RelayTiming { $0.handlerRetries = [.milliseconds(1), .milliseconds(1)] }, onNotice: { _ in })
        relay.activate()
        try await journal.migrate("seen", by: [Migration("seen", "CREATE TABLE seen (number INTEGER PRIMARY KEY)")])
    }
    var seen: [Int64] {
        get async throws {
            try await journal.read { try $0.query("SELECT number FROM seen ORDER BY number", as: Int64.self) }
        }
    }
    func consume(_ name: String = "double", from start: StreamPosition = .beginning) async throws -> Subscription {
        try await journal.consume(Counted.self, of: relay, as: name, from: start) { event, unit in
            try unit.execute("INSERT INTO seen (number) VALUES (\(event.number))")
            if event.number == 13 { throw Refused() }
            try unit.publish(Doubled(number: 2 * event.number))
        } onGap: { gap, unit in
            try unit.execute("INSERT INTO seen (number) VALUES (\(-Int64(clamping: gap.sequences.lowerBound)))")
        }
    }
    func end() async throws {
        relay.invalidate()
        try await harness.stop(source)
        try await harness.stop(target)
        journal.close()
    }
}

@Suite("Consuming another service's events exactly once", .heavy, .tags(.g2, .g5)) struct ConsumingTests {
    @Test("state, events and position are one: a consumer goes on where its journal is") func resumes() async throws {
        let folder = try TestFolder()
        var pair = try await Pair(folder)
        try await pair.source.publish(contentsOf: (1...5).map { Counted(number: $0) })
        try await pair.source.publish(Named(name: "in between"))
        var subscription = try await pair.consume()
        #expect(await eventually { (try? await pair.seen) == [1, 2, 3, 4, 5] })
        subscription.cancel()
        try await pair.source.publish(contentsOf: (6...8).map { Counted(number: $0) })
        try await pair.end()
        pair = try await Pair(folder, pair.log.reopened())
        // A number that came again would end it.
        subscription = try await pair.consume()
        #expect(await eventually { (try? await pair.seen) == Array(1...8) })
        #expect(subscription.isActive)
        let published = try await pair.journal.statistics(of: Target1.self).events
        #expect(published == 8)
        try await pair.end()
    }
    @Test("an event that is refused ends the consumer before it, with all before it committed and nothing of its own")
    func refused() async throws {
        let pair = try await Pair(TestFolder())
        try await pair.source.publish(contentsOf: (11...15).map { Counted(number: $0) })
        let subscription = try await pair.consume()
        await #expect(throws: Refused.self) { try await pair.relay.run() }
        #expect(subscription.failure is Refused)
        #expect(try await pair.seen == [11, 12])
        #expect(try await pair.journal.statistics(of: Target1.self).events == 2)
        try await pair.end()
    }
    @Test("a gap is accounted for in its place, and the position passes it") func gaps() async throws {
        let folder = try TestFolder()
        var pair = try await Pair(folder)
        try await pair.source.publish(contentsOf: (1...3).map { Counted(number: $0) })
        var subscription = try await pair.consume(from: .after(epoch: 77, sequence: 40))
        #expect(await eventually { (try? await pair.seen.count) == 4 })
        #expect(try await pair.seen.suffix(3) == [1, 2, 3])
        subscription.cancel()
        try await pair.end()
        pair = try await Pair(folder, pair.log.reopened())
        subscription = try await pair.consume(from: .after(epoch: 77, sequence: 40))
        try await pair.source.publish(Counted(number: 4))
        #expect(await eventually { (try? await pair.seen.count) == 5 })
        #expect(subscription.isActive)
        try await pair.end()
    }
    @Test("a whole interface is consumed as its enum") func interface() async throws {
        let pair = try await Pair(TestFolder())
        let subscription = try await pair.journal.consume(Source1.self, of: pair.relay, as: "all") { event, unit in
            switch event {
            case .counted(let event): try unit.execute("INSERT INTO seen (number) VALUES (\(event.number))")
            case .named(let event): try unit.execute("INSERT INTO seen (number) VALUES (\(event.name.count * 100))")
            }
        } onGap: { _, _ in
        }
        try await pair.source.publish(Counted(number: 1))
        try await pair.source.publish(Named(name: "ab"))
        #expect(await eventually { (try? await pair.seen) == [1, 200] })
        subscription.cancel()
        try await pair.end()
    }
    @Test("names and starts that cannot be are refused, and a name has one consumer at a time") func refusals()
        async throws
    {
        let pair = try await Pair(TestFolder())
        for name in ["", "a b", String(repeating: "x", count: 65)] {
            let error = await #expect(throws: RelayError.self) { try await pair.consume(name) }
            #expect(error?.code == .invalidArgument)
        }
        let resuming = await #expect(throws: RelayError.self) { try await pair.consume(from: .resuming("x")) }
        #expect(resuming?.code == .invalidArgument)
        let first = try await pair.consume()
        let second = await #expect(throws: RelayError.self) { try await pair.consume() }
        #expect(second?.code == .conflict)
        try await pair.source.publish(Counted(number: 1))
        #expect(await eventually { (try? await pair.seen) == [1] })
        first.cancel()
        // The same name for other events is somebody else's position.
        let other = await #expect(throws: RelayError.self) {
            try await pair.journal.consume(Named.self, of: pair.relay, as: "double") { _, _ in
            } onGap: { _, _ in
            }
        }
        #expect(other?.code == .invalidArgument)
        let again = try await pair.consume()
        #expect(again.isActive)
        try await pair.end()
    }
}
