import RelayCore
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayJournal
import RelayWire
import RelayInspection

@Suite("Contracts that change", .heavy, .tags(.g2, .g6)) struct EvolutionTests {
    private static let name = "org.example.Printer"

    /// Runs a release of the service on a journal, for as long as `body` takes.
    private func serve(
        _ interface: any EventInterface.Type, on bus: PrivateBus, _ folder: TestFolder,
        _ body: (EventService, EventJournal) async throws -> Void
    ) async throws {
        let journal = try EventJournal(directory: folder.path)
        let service = try EventService(name: Self.name, on: bus.bus, exporting: interface, journal: journal)
        try await service.start()
        try await body(service, journal)
        try await service.stop()
        journal.close()
    }
    /// The first events that a release of a subscriber reads from the beginning of the journal.
    private func read<E: DomainEvent>(
        _ count: Int, _ type: E.Type, on bus: PrivateBus
    ) async throws -> (events: [E], gaps: [Gap]) {
        let relay = try EventRelay(following: Self.name, on: bus.bus, interfaces: E.Interface.self)
        let stream = try relay.events(of: E.self, from: .beginning)
        relay.activate()
        var (events, gaps): ([E], [Gap]) = ([], [])
        for await delivery in stream {
            switch delivery {
            case .event(let event, _): events.append(event)
            case .gap(let gap): gaps.append(gap)
            }
            if events.count + gaps.count >= count { break }
        }
        relay.invalidate()
        return (events, gaps)
    }

    @Test("a field is added and renamed, and each later release reads what the earlier ones wrote") func fields()
        async throws
    {
        let (bus, folder) = (try PrivateBus(), try TestFolder())
        try await serve(FirstRelease.Printing1.self, on: bus, folder) { service, _ in
            try await service.publish(FirstRelease.JobPrinted(jobID: 1, label: "one", color: true))
        }
        try await serve(SecondRelease.Printing1.self, on: bus, folder) { service, _ in
            try await service.publish(SecondRelease.JobPrinted(jobID: 2, label: "two", color: false, pages: 2))
            // The subscriber may be older than the service.
            let (events, gaps) = try await read(2, FirstRelease.JobPrinted.self, on: bus)
            #expect(
                events == [.init(jobID: 1, label: "one", color: true), .init(jobID: 2, label: "two", color: false)])
            #expect(gaps.isEmpty)
            // Or newer: before the service renames a field.
            let newer = try await read(2, ThirdRelease.JobPrinted.self, on: bus)
            #expect(newer.events.map(\.title) == ["one", "two"] && newer.gaps.isEmpty)
        }
        try await serve(ThirdRelease.Printing1.self, on: bus, folder) { service, _ in
            try await service.publish(ThirdRelease.JobPrinted(jobID: 3, title: "three", color: true, pages: 3))
            let (events, gaps) = try await read(3, ThirdRelease.JobPrinted.self, on: bus)
            #expect(
                events == [
                    .init(jobID: 1, title: "one", color: true, pages: nil),
                    .init(jobID: 2, title: "two", color: false, pages: 2),
                    .init(jobID: 3, title: "three", color: true, pages: 3),
                ])
            #expect(gaps.isEmpty)
            // One that knows only the former name learns from the service what the field is called now.
            let old = try await read(3, SecondRelease.JobPrinted.self, on: bus)
            #expect(old.events.map(\.label) == ["one", "two", "three"] && old.gaps.isEmpty)
        }
        try await serve(FourthRelease.Printing1.self, on: bus, folder) { service, _ in
            try await service.publish(FourthRelease.JobPrinted(jobID: 4, title: "four", pages: nil))
            let (events, gaps) = try await read(4, FourthRelease.JobPrinted.self, on: bus)
            #expect(events.map(\.title) == ["one", "two", "three", "four"] && gaps.isEmpty)
        }
    }
    @Test("releases that take turns leave no more schemas than two, and each reads the other's events") func turns()
        async throws
    {
        let (bus, folder) = (try PrivateBus(), try TestFolder())
        let schemas = """
            SELECT count(*) FROM relay_schemas
            """
        for turn in 0..<6 {
            try await serve(FirstRelease.Printing1.self, on: bus, folder) { service, _ in
                try await service.publish(FirstRelease.JobPrinted(jobID: Int64(turn), label: "first", color: true))
                let count = 2 * turn + 1
                let (events, gaps) = try await read(count, FirstRelease.JobPrinted.self, on: bus)
                #expect(events.map(\.jobID) == (0..<count).map { Int64($0 / 2) } && gaps.isEmpty)
            }
            try await serve(SecondRelease.Printing1.self, on: bus, folder) { service, _ in
                try await service.publish(
                    SecondRelease.JobPrinted(jobID: Int64(turn), label: "second", color: true, pages: 3))
                let (events, gaps) = try await read(2 * turn + 2, SecondRelease.JobPrinted.self, on: bus)
                #expect(
                    events.map(\.pages) == (0..<2 * turn + 2).map { $0.isMultiple(of: 2) ? nil : 3 } && gaps.isEmpty)
            }
            let database = try Database(folder.database, isReadOnly: true, vfs: nil)
            #expect(try database.integers(schemas)?.first ?? 0 <= 3)
            // What a release is compared with is the last one, not the newest.
            #expect(
                try ContractCheck.changes(of: SecondRelease.Printing1.self, fromJournalIn: folder.path).isEmpty)
        }
        #expect(try JournalInspection(directory: folder.path).check().events == 12)
    }
    @Test("a live event with a former name is read, too, by signal, ring and journal") func live() async throws {
        let (bus, folder) = (try PrivateBus(), try TestFolder())
        try await serve(FirstRelease.Printing1.self, on: bus, folder) { service, _ in
            let relay = try EventRelay(following: Self.name, on: bus.bus, interfaces: ThirdRelease.Printing1.self)
            let stream = relay.publisher.events(of: ThirdRelease.JobPrinted.self)
            relay.activate()
            try await relay.ready()
            try await service.publish(FirstRelease.JobPrinted(jobID: 1, label: "one", color: true))
            for await case .event(let event, _) in stream {
                #expect(event == .init(jobID: 1, title: "one", color: true, pages: nil))
                break
            }
            relay.invalidate()
        }
    }
    @Test("a second version of an interface is served beside the first, from one journal and in one transaction")
    func majors() async throws {
        let (bus, folder) = (try PrivateBus(), try TestFolder())
        try await serve(FirstRelease.Printing1.self, on: bus, folder) { service, _ in
            try await service.publish(FirstRelease.JobPrinted(jobID: 1, label: "one", color: true))
        }
        do {
            let journal = try EventJournal(directory: folder.path)
            let service = try EventService(
                name: Self.name, on: bus.bus, exporting: FourthRelease.Printing1.self, FourthRelease.Printing2.self,
                journal: journal)
            try await service.start()
            try await journal.unitOfWork { unit in
                try unit.publish(FourthRelease.JobPrinted(jobID: 2, title: "two", pages: nil))
                try unit.publish(FourthRelease.JobPrinted2(jobID: "2", titles: ["two"]))
            }
            struct Refused: Error {}
            await #expect(throws: Refused.self) {
                try await journal.unitOfWork { unit in
                    try unit.publish(FourthRelease.JobPrinted(jobID: 3, title: "", pages: nil))
                    try unit.publish(FourthRelease.JobPrinted2(jobID: "3", titles: []))
                    throw Refused()
                }
            }
            let first = try await read(2, FourthRelease.JobPrinted.self, on: bus)
            #expect(first.events.map(\.title) == ["one", "two"] && first.gaps.isEmpty)
            let second = try await read(1, FourthRelease.JobPrinted2.self, on: bus)
            #expect(second.events == [.init(jobID: "2", titles: ["two"])] && second.gaps.isEmpty)
            #expect(try await journal.statistics(of: FourthRelease.Printing2.self).events == 1)
            try await service.stop()
            journal.close()
        }
    }

    // MARK: The checker

    private func changes<I: EventInterface>(_ interface: I.Type, _ folder: TestFolder) throws -> [ContractChange] {
        try ContractCheck.changes(of: interface, fromJournalIn: folder.path)
    }
    /// Of each change: the member, what happened, and whom it breaks.
    private func summary(_ changes: [ContractChange]) -> [String] {
        changes.map { change in
            let broken = Set(change.effects.filter(\.breaks).map(\.party.rawValue)).sorted()
            return "\(change.member) \(change.kind.rawValue)" + broken.map { "; \($0)" }.joined()
        }
    }
    private func summary<I: EventInterface>(_ interface: I.Type, _ folder: TestFolder) throws -> [String] {
        summary(try changes(interface, folder))
    }
    @Test("the checker names what each release would break of what a journal keeps, beside its service and without it")
    func checkedJournal() async throws {
        let (bus, folder) = (try PrivateBus(), try TestFolder())
        let none = #expect(throws: RelayError.self) { _ = try changes(FirstRelease.Printing1.self, folder) }
        #expect(none?.code == .notFound)
        try await serve(FirstRelease.Printing1.self, on: bus, folder) { service, _ in
            try await service.publish(FirstRelease.JobPrinted(jobID: 1, label: "one", color: true))
            #expect(try changes(FirstRelease.Printing1.self, folder).isEmpty)
            #expect(try summary(FourthRelease.Printing2.self, folder) == ["JobPrinted added"])
        }
        let names = folder.names
        #expect(try changes(FirstRelease.Printing1.self, folder).isEmpty)
        // A field that is added breaks nothing: those who lack it ignore it. Nor does one that is renamed.
        #expect(try summary(SecondRelease.Printing1.self, folder) == ["JobPrinted changed"])
        #expect(try summary(ThirdRelease.Printing1.self, folder) == ["JobPrinted changed"])
        // One that is removed is missed by those who need it.
        let removed = try changes(FourthRelease.Printing1.self, folder)
        #expect(summary(removed) == ["JobPrinted changed; old front ends"])
        #expect(removed.first?.effects.first { $0.breaks }?.message.contains("'color'") == true)
        // It has only looked.
        #expect(folder.names == names)
        let retyped = try changes(Retyped.Printing1.self, folder)
        #expect(
            summary(retyped) == [
                "JobLost added", "JobPrinted changed; new front ends; old front ends; the journal",
            ])
    }
    private enum Retyped {
        enum Printing1: EventInterface {
            static let name = "org.example.Printing1"
            static var contract: Contract<Self> {
                JobPrinted.self
                JobLost.self
            }
        }
        struct JobPrinted: DomainEvent {
            typealias Interface = Printing1
            let jobID: String, label: String, color: Bool
        }
        struct JobLost: DomainEvent {
            typealias Interface = Printing1
            let jobID: Int64
        }
    }
    @Test("an event of an earlier version counts as long as the journal has one") func formerVersions() async throws {
        enum Old {
            enum Printing1: EventInterface {
                static let name = "org.example.Printing1"
                static var contract: Contract<Self> { JobPrinted.self }
                static var durability: Durable { Durable(retention: Retention(count: 1)) }
            }
            struct JobPrinted: DomainEvent {
                typealias Interface = Printing1
                let jobID: Int64
            }
        }
        let (bus, folder) = (try PrivateBus(), try TestFolder())
        try await serve(Old.Printing1.self, on: bus, folder) { service, _ in
            try await service.publish(Old.JobPrinted(jobID: 1))
        }
        try await serve(FirstRelease.Printing1.self, on: bus, folder) { service, _ in
            try await service.publish(FirstRelease.JobPrinted(jobID: 2, label: "two", color: true))
        }
        #expect(try summary(FirstRelease.Printing1.self, folder) == ["JobPrinted changed; the journal"])
        // Once it is pruned, nothing is left that could not be read.
        try await serve(Old.Printing1.self, on: bus, folder) { service, journal in
            try await service.publish(Old.JobPrinted(jobID: 3))
            let isPruned = try await eventually {
                try await journal.statistics(of: Old.Printing1.self).events == 1
            }
            #expect(isPruned)
        }
        #expect(try changes(Old.Printing1.self, folder).isEmpty)
    }

    enum Shop {
        enum Shop1: EventInterface {
            static let name = "org.example.Shop1"
            static var durability: Volatile { Volatile() }
            static var contract: Contract<Self> {
                Opened.self
                Closed.self
                Order.self
                Cancel.self
            }
        }
        struct Opened: DomainEvent {
            typealias Interface = Shop1
            let at: Int64, by: String?
        }
        struct Closed: DomainEvent {
            typealias Interface = Shop1
            let at: Int64
        }
        struct Order: Command {
            typealias Interface = Shop1
            let item: String
            struct Reply: Codable, Sendable { let orderID: Int64 }
        }
        struct Cancel: Command {
            typealias Interface = Shop1
            let orderID: Int64
        }
    }
    enum LaterShop {
        enum Shop1: EventInterface {
            static let name = "org.example.Shop1"
            static var durability: Volatile { Volatile() }
            static var contract: Contract<Self> {
                Opened.self
                Moved.self
                Order.self
                Return.self
            }
        }
        struct Opened: DomainEvent {
            typealias Interface = Shop1
            let at: String, by: String?
        }
        struct Moved: DomainEvent {
            typealias Interface = Shop1
            let to: String
        }
        struct Order: Command {
            typealias Interface = Shop1
            let item: String, count: Int32
            struct Reply: Codable, Sendable { let orderIDs: [Int64] }
        }
        struct Return: Command {
            typealias Interface = Shop1
            let orderID: Int64
        }
    }
    @Test("the checker compares with a running service, commands included") func checkedService() async throws {
        let bus = try PrivateBus()
        let service = try EventService(name: "org.example.Shop", on: bus.bus, exporting: Shop.Shop1.self)
        service.handle(Shop.Order.self) { _, _ in Shop.Order.Reply(orderID: 1) }
        service.handle(Shop.Cancel.self) { _, _ in }
        try await service.start()
        let same = try await ContractCheck.changes(
            of: Shop.Shop1.self, fromService: "org.example.Shop", on: bus.bus)
        #expect(same.isEmpty, "\(same)")
        let changes = try await ContractCheck.changes(
            of: LaterShop.Shop1.self, fromService: "org.example.Shop", on: bus.bus)
        let found = summary(changes)
        #expect(
            found == [
                "Cancel removed; old front ends", "Closed removed; old front ends", "Moved added",
                "Opened changed; new front ends; old front ends", "Order changed; new front ends; old front ends",
                "Return added",
            ], "\(found)")
        #expect(changes.contains { $0.lines.contains("+ in count i") })
        let error = await #expect(throws: RelayError.self) {
            _ = try await ContractCheck.changes(
                of: FirstRelease.Printing1.self, fromService: "org.example.Shop", on: bus.bus)
        }
        #expect(error?.code == .notFound)
        let absent = await #expect(throws: RelayError.self) {
            _ = try await ContractCheck.changes(of: Shop.Shop1.self, fromService: "org.example.None", on: bus.bus)
        }
        #expect(absent?.code == .unavailable)
        try await service.stop()
    }
}
