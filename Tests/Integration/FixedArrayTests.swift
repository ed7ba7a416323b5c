import Glibc
import RelayCore
import RelayJournal
import RelayTestKit
import TestTraits
import Testing

/// Arrays of fixed length, and programs without their type.
@Suite("Arrays of fixed length, in tools without their type", .heavy) struct FixedArrayTests {
    enum Scope1: EventInterface {
        static let name = "org.example.Scope1"
        static let durability = Volatile()
        static var contract: Contract<Self> { Captured.self }
    }
    struct Captured: FixedLayoutEvent {
        typealias Interface = Scope1
        var at: UInt64, samples: FixedArray<500, UInt64>, gains: FixedArray<4, Float>, bins: FixedArray<16, Int8>
    }
    enum Archive1: EventInterface {
        static let name = "org.example.Archive1"
        static var contract: Contract<Self> { Archived.self }
    }
    struct Archived: FixedLayoutEvent, Equatable {
        typealias Interface = Archive1
        var samples: FixedArray<500, UInt64>
    }
    /// Another version of the program, which declares an ordinary array.
    enum OtherArchive1: EventInterface {
        static let name = Archive1.name
        static var contract: Contract<Self> { OtherArchived.self }
    }
    struct OtherArchived: DomainEvent {
        typealias Interface = OtherArchive1
        static let name = "Archived"
        var samples: [UInt64]
    }
    private static let service = "org.example.Recorder"

    private func running(_ service: EventService) async -> Task<Void, any Error> {
        let (ready, isReady) = AsyncStream.makeStream(of: Void.self)
        let running = Task {
            defer { isReady.finish() }
            try await service.run { isReady.finish() }
        }
        for await _ in ready {}
        return running
    }
    private func cli(_ bus: PrivateBus, _ arguments: String...) throws -> RunningProgram {
        try RunningProgram(
            Programs.cli, ["--bus", bus.address, "--service", Self.service] + arguments,
            environment: Programs.environment())
    }

    @Test("watch shows a ring's arrays without their type: whole in JSON, the first numbers of long ones to people")
    func watch() async throws {
        let bus = try PrivateBus()
        let service = try EventService(name: Self.service, on: bus.bus, exporting: Scope1.self)
        let running = await running(service)
        let (lines, people) = (try cli(bus, "--json", "watch", "--count", "2"), try cli(bus, "watch", "--count", "2"))
        try await lines.line(containing: "watching")
        try await people.line(containing: "watching")
        for number: UInt64 in [1, 2] {
            try service.publish(
                Captured(
                    at: number, samples: FixedArray { number * 1_000 + UInt64($0) },
                    gains: FixedArray([0.5, -1, 2, 3]), bins: FixedArray { Int8($0) - 8 }))
        }
        let json = await lines.outcome()
        #expect(json.code == 0 && json.output.count == 2, "\(json)")
        for (number, line) in zip(1..., json.output) {
            let samples = (0..<500).map { "\(number * 1_000 + $0)" }.joined(separator: ",")
            let bins = (-8..<8).map { "\($0)" }.joined(separator: ",")
            let fields =
                #""fields":{"at":\#(number),"samples":[\#(samples)],"gains":[0.5,-1.0,2.0,3.0],"bins":[\#(bins)]}}"#
            #expect(line.hasSuffix(#""transport":"ring","# + fields), "\(line)")
        }
        let text = await people.outcome()
        #expect(text.code == 0 && text.output.count == 2, "\(text)")
        #expect(
            text.output.last?.hasSuffix(
                " #2 Captured at=2 samples=[2000,2001,2002,2003,2004,2005,2006,2007,… 492 more] gains=[0.5,-1.0,2.0,3.0]"
                    + " bins=[-8,-7,-6,-5,-4,-3,-2,-1,0,1,2,3,4,5,6,7]") == true, "\(text)")
        let list = try await cli(bus, "list").outcome()
        #expect(
            list.output.contains {
                $0.contains("Captured  at: uint64, samples: [uint64], gains: [double], bins: [int16]")
            }, "\(list)")
        running.cancel()
        try await running.value
    }

    @Test("a journal keeps them as arrays: tools, and programs that declare one, read them later") func journal()
        async throws
    {
        let (bus, state) = (try PrivateBus(), try TestFolder())
        let journal = try EventJournal(directory: state.path)
        let service = try EventService(name: Self.service, on: bus.bus, exporting: Archive1.self, journal: journal)
        let running = await running(service)
        let events = (0..<3).map { number in
            Archived(samples: FixedArray { UInt64(number) << 40 | UInt64($0) })
        }
        try await service.publish(contentsOf: events)
        // Who comes later reads the journal, by the same type or by another.
        let relay = try EventRelay(following: Self.service, on: bus.bus, interfaces: Archive1.self)
        var same: [Archived] = []
        let stream = try relay.events(of: Archived.self, from: .beginning)
        relay.activate()
        for await delivery in stream {
            guard case .event(let event, _) = delivery else { break }
            same.append(event)
            if same.count == 3 { break }
        }
        #expect(same == events)
        let other = try EventRelay(following: Self.service, on: bus.bus, interfaces: OtherArchive1.self)
        var ordinary: [[UInt64]] = []
        let otherStream = try other.events(of: OtherArchived.self, from: .beginning)
        other.activate()
        for await delivery in otherStream {
            guard case .event(let event, _) = delivery else { break }
            ordinary.append(event.samples)
            if ordinary.count == 3 { break }
        }
        #expect(ordinary == events.map { Array($0.samples) })
        let export = try await cli(bus, "export", "Archived").outcome()
        let last = (0..<500).map { "\(2 << 40 | $0)" }.joined(separator: ",")
        #expect(export.output.count == 3 && export.output.last?.contains(#""samples":[\#(last)]"#) == true, "\(export)")
        running.cancel()
        try await running.value
    }
}
