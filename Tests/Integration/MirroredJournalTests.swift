import RelayTestKit
import TestTraits
import Testing

@testable import RelayCore
@testable import RelayJournal

private enum Till1: EventInterface {
    static let name = "org.example.Till1"
    static var contract: Contract<Self> {
        Sold.self
        Closed.self
    }
    struct Sold: DomainEvent, Equatable {
        typealias Interface = Till1
        let amount: Int64
    }
    struct Closed: DomainEvent, Equatable {
        typealias Interface = Till1
        let year: Int32
    }
}

/// A journal as a mirror has it, served on a bus: with a run that its origin may have more of.
@Suite("A mirror's journal on a bus", .heavy, .tags(.g2, .g6)) struct MirroredJournalTests {
    private static let name = "org.example.Till"
    private static let epoch: UInt64 = 77
    private let bus: PrivateBus
    init() throws { bus = try PrivateBus() }

    private struct Served {
        let service: EventService, journal: EventJournal

        func sell(_ amounts: ClosedRange<Int64>) async throws {
            for amount in amounts { try await service.publish(Till1.Sold(amount: amount)) }
        }
    }
    private func serve(
        _ folder: TestFolder, isOpen: Bool = false, _ body: (Served) async throws -> Void
    ) async throws {
        let journal = try EventJournal(directory: folder.path)
        let service = try EventService(
            Self.name, bus.bus, [Till1.self], journal: journal,
            mirroring: [Till1.name: MirroredRun(epoch: Self.epoch, isOpen: isOpen)]
        ) { _ in }
        try await service.start()
        try await body(Served(service: service, journal: journal))
        try await service.stop()
        journal.close()
    }
    private func python(_ options: String...) throws -> RunningProgram {
        try RunningProgram(
            "/usr/bin/python3",
            [
                "-B", "\(Programs.sources)/../../Examples/python/relay_client.py", "--bus", bus.address, "--service",
                Self.name,
            ] + options + [Till1.name])
    }
    private func cli(_ arguments: String...) throws -> RunningProgram {
        try RunningProgram(
            Programs.cli, ["--bus", bus.address, "--service", Self.name, "--json"] + arguments,
            environment: Programs.environment())
    }
    /// Events by their sequences, and gaps by their ranges and reasons.
    private static func text<E>(_ delivery: EventOrGap<E>) -> String {
        switch delivery {
        case .event(_, let stamp): "\(stamp.sequence)"
        case .gap(let gap): "\(gap.sequences.lowerBound)-\(gap.sequences.upperBound) \(gap.reason.rawValue)"
        }
    }
    /// What a positioned subscription gets, until the relay's end.
    private func record<E: DomainEvent>(
        _ relay: EventRelay, _ type: E.Type, from start: StreamPosition
    ) throws -> Log<String> {
        let (seen, stream) = (Log<String>(), try relay.events(of: type, from: start))
        Task { for await delivery in stream { seen.add(Self.text(delivery)) } }
        return seen
    }
    /// As `text`, of what relay-cli prints.
    private static func texts(_ lines: [String]) -> [String] {
        func number(_ key: String, _ line: String) -> String? {
            line.firstRange(of: "\"\(key)\":").map { String(line[$0.upperBound...].prefix { $0.isNumber }) }
        }
        return lines.compactMap { line in
            if let first = number("first", line), let last = number("last", line) {
                return "\(first)-\(last)" + (line.contains("unrecorded") ? " unrecorded" : " ?")
            }
            return number("sequence", line)
        }
    }

    @Test(
        "a subscriber that is ahead of an open run waits until the mirror comes to its place; of a closed one it parts",
        arguments: [true, false])
    func ahead(isOpen: Bool) async throws {
        let (places, cursors) = (try TestFolder(), try TestFolder())
        let position = "\(places.path)/position"
        try await serve(TestFolder()) { origin in
            try await origin.sell(1...5)
            let events = try await resumed(cursors, until: "5")
            #expect(events == ["1", "2", "3", "4", "5"])
            let client = try python("--position", position)
            try await client.line(containing: "event 5 ")
            _ = await client.terminate()
            let watch = try cli("watch", "--resume", "desk", "--cursors", places.path, "--count", "5")
            #expect(await watch.outcome().code == 0)
        }
        try await serve(TestFolder(), isOpen: isOpen) { mirror in
            try await mirror.sell(1...3)
            let relay = try EventRelay(
                following: Self.name, on: bus.bus, interfaces: Till1.self, cursors: cursors.path)
            let seen = try record(relay, Till1.Sold.self, from: .resuming("desk"))
            relay.activate()
            let client = try python("--position", position)
            let watch = try cli("watch", "--resume", "desk", "--cursors", places.path)
            if isOpen {
                try await relay.ready()
                try await relay.barrier()
            } else {
                #expect(await eventually { seen.values.contains { $0.hasSuffix("historyReplaced") } }, "\(seen.values)")
                try await client.line(containing: "gap 4 5 of another history")
                try await watch.line(containing: "historyReplaced")
            }
            try await mirror.sell(4...6)
            #expect(await eventually { seen.values.last == "6" }, "\(seen.values)")
            try await client.line(containing: "event 6 ")
            #expect(await eventually { Self.texts(watch.output).last == "6" }, "\(watch.output)")
            if isOpen {
                // The last one may come again, if it was not finished with.
                #expect(Set(["5", "6"]).isSuperset(of: seen.values), "\(seen.values)")
                #expect(client.output.count == 1, "\(client.output)")
                #expect(Set(["5", "6"]).isSuperset(of: Self.texts(watch.output)), "\(watch.output)")
            } else {
                #expect(Array(seen.values.suffix(3)) == ["4", "5", "6"], "\(seen.values)")
            }
            _ = await client.terminate()
            _ = await watch.terminate()
            relay.invalidate()
        }
    }
    /// What a named subscription gets, until this has come.
    private func resumed(_ cursors: TestFolder, until last: String) async throws -> [String] {
        let relay = try EventRelay(following: Self.name, on: bus.bus, interfaces: Till1.self, cursors: cursors.path)
        let seen = try record(relay, Till1.Sold.self, from: .resuming("desk"))
        relay.activate()
        #expect(await eventually { seen.values.last == last })
        relay.invalidate()
        return seen.values
    }
}
