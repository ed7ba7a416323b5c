import RelayTestKit
import TestTraits
import Testing

@testable import RelayCore
@testable import RelayEvents
import RelayWire

/// How many names an interface may have, and what becomes of those that are too many.
@Suite("The limit of names in an interface", .heavy, .tags(.g2)) struct NameLimitTests {
    private static let limit = 2 * ContractLimits.events

    @Test("an interface with too many events is refused where it is registered") func contract() throws {
        let one = ContractMember<Plain1>(kind: .event(Said.self))
        func message(_ count: Int) -> String {
            do {
                try Contract(members: Array(repeating: one, count: count)).checkNames()
                return ""
            } catch { return error.message }
        }
        #expect(message(ContractLimits.events).contains("two members named 'Said'"))
        #expect(
            message(ContractLimits.events + 1)
                == "\(Plain1.name) has 1025 events, an interface can have 1024: divide it into several interfaces")
        #expect(message(1) == "")
    }
    @Test("the names of former versions count, too") func former() throws {
        func begin(_ former: Int) throws {
            var served = try ExportedInterface(InterfacePlan(Ledger1.self), number: 0, logIndex: 0)
            let last = Dictionary(uniqueKeysWithValues: (0..<former).map { ("Former\($0)", UInt64($0 + 1)) })
            let run = LogSnapshot(
                head: UInt64(former), last: last, pruned: [:], runs: [StreamRun(epoch: 1, first: 1)], schemas: [:])
            try served.begin(run, in: MemoryLog().storage)
        }
        try begin(ContractLimits.events - 2)
        let error = #expect(throws: RelayError.self) { try begin(ContractLimits.events - 1) }
        #expect(error?.code == .invalidArgument)
        #expect(error?.message.contains("\(Ledger1.name) has had 1025 events in all its versions") == true)
    }
    private static func follow(_ bus: Bus, _ lines: Log<String>, names: Set<String>?) throws -> ServiceFollower {
        let follower = try ServiceFollower(service: Desk.name, on: bus) { output in
            switch output {
            case .event(let envelope): lines.add(envelope.name)
            case .gap(_, let gap): lines.add("gap \(gap.sequences) \(gap.reason.rawValue)")
            case .state(let state): if case .active = state { lines.add("active") }
            }
        }
        follower.follow(interface: Plain1.name, names: names)
        follower.activate()
        return follower
    }
    @Test("names that nobody wants take no place of those that are wanted") func unwanted() async throws {
        let bus = try PrivateBus()
        let service = try await FollowingTests.fake(bus.bus, epoch: 1)
        let lines = Log<String>()
        let follower = try Self.follow(bus.bus, lines, names: ["Said", "Rare"])
        #expect(await eventually { lines.values.contains("active") })
        for number in 1...(Self.limit + 10) { try service.publish("Junk\(number)", []) }
        try service.publish("Said", FollowingTests.said(1))
        try service.publish("Rare", [])
        // Of `Rare` the service's schemas say nothing, which is told once.
        #expect(
            await eventually { lines.values.filter { !$0.hasPrefix("gap 1...") } == ["active", "Said", "Rare"] },
            "\(lines.values)")
        follower.invalidate()
        service.vanish()
    }
    @Test("events past the limit are gaps, and the next owner's names count anew") func past() async throws {
        let bus = try PrivateBus()
        let service = try await FollowingTests.fake(bus.bus, epoch: 1)
        let lines = Log<String>()
        let follower = try Self.follow(bus.bus, lines, names: nil)
        #expect(await eventually { lines.values.contains("active") })
        for number in 1...(Self.limit + 3) { try service.publish("Junk\(number)", []) }
        try service.publish("Junk1", [])
        let names = (1...Self.limit).map { "Junk\($0)" }
        let gaps = (1...3).map { "gap \(Self.limit + $0)...\(Self.limit + $0) schemaMismatch" }
        #expect(await eventually { lines.values.count == Self.limit + 5 })
        #expect(lines.values == ["active"] + names + gaps + ["Junk1"])
        service.vanish()
        #expect(await eventually { lines.values.last?.hasSuffix("epochChanged") == true })
        let next = try await FollowingTests.fake(bus.bus, epoch: 2)
        #expect(await eventually { lines.values.last == "active" })
        try next.publish("Other", [])
        #expect(await eventually { lines.values.last == "Other" })
        follower.invalidate()
        next.vanish()
    }
    @Test("a replay shows those past the limit as a gap, in their place") func replay() async throws {
        let bus = try PrivateBus()
        let service = try await FakeService.start(
            DurableDesk.name, Ledger1.name, on: bus.bus, epoch: 1, schemas: HoleTests.schemas, isDurable: true)
        for number in 1...(Self.limit + 3) { service.append("Junk\(number)", schema: 1, [.int64(1)]) }
        service.append("Junk1", schema: 1, [.int64(1)])
        let follower = try ServiceFollower(service: DurableDesk.name, on: bus.bus) { _ in }
        let lines = Log<String>()
        let stream = try follower.envelopes(of: Ledger1.name, from: .beginning)
        follower.activate()
        #expect(
            await eventually {
                while let taken = stream.poll() {
                    switch taken {
                    case .event(let envelope, _): lines.add(envelope.name)
                    // One by one: what is taken at once depends on who is quicker.
                    case .gap(let gap) where gap.sequences.upperBound - gap.sequences.lowerBound < 10:
                        for sequence in gap.sequences { lines.add("gap \(sequence) \(gap.reason.rawValue)") }
                    case .gap(let gap): lines.add("\(gap)")
                    }
                }
                return stream.isCaughtUp
            })
        let names = (1...Self.limit).map { "Junk\($0)" }
        let gaps = (1...3).map { "gap \(Self.limit + $0) schemaMismatch" }
        #expect(lines.values == names + gaps + ["Junk1"])
        follower.invalidate()
        service.vanish()
    }
}
