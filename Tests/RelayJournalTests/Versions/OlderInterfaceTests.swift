import RelayCore
import RelayWire
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayJournal
import RelayInspection

@Suite("Two versions of an interface at once", .heavy, .tags(.g5, .g6)) struct OlderInterfaceTests {
    private static let name = "org.example.Orders"
    private let bus: PrivateBus
    private let folder: TestFolder
    init() throws { (bus, folder) = (try PrivateBus(), try TestFolder()) }

    /// Runs a release with the first version alone.
    private func serveFirst(_ body: (EventService) async throws -> Void) async throws {
        let journal = try EventJournal(directory: folder.path)
        let service = try EventService(name: Self.name, on: bus.bus, exporting: Orders1.self, journal: journal)
        service.handle(Orders1.Place.self) { _, _ in Orders1.Place.Reply(orderID: 0) }
        service.handle(Orders1.Cancel.self) { _, _ in }
        try await service.start()
        try await body(service)
        try await service.stop()
        journal.close()
    }
    /// Runs a release with both versions, whose handlers count.
    private func serveBoth(
        _ faults: JournalFaults = JournalFaults(), _ body: (EventService, EventJournal) async throws -> Void
    ) async throws {
        let journal = try EventJournal(directory: folder.path, faults: faults, permit: nil)
        let service = try EventService(
            name: Self.name, on: bus.bus, exporting: Orders2.self, older: Orders2.servingFirst, journal: journal)
        let count = Counter()
        service.handle(Orders2.Place.self) { command, context, unit in
            if command.title.count > 10 { throw Orders2.Place.Refusal.tooLong }
            if command.title == "closed" { throw Orders2.Place.Refusal.closed }
            context.report(.init(done: 0.5), of: command)
            let id = "\(count.next())"
            try unit.publish(Orders2.Placed(id: id, totals: [1, 2]))
            return Orders2.Place.Reply(id: id)
        } onRefusal: { _, events in
            try events.publish(Orders2.Placed(id: "-1", totals: []))
        }
        service.handle(Orders1.Cancel.self) { _, _ in }
        try await service.start()
        try await body(service, journal)
        try await service.stop()
        journal.close()
    }
    private final class Counter: Sendable {
        private let count = Mutex(0)
        var value: Int { count.withLock { $0 } }
        @discardableResult func next() -> Int {
            count.withLock { count in
                count += 1
                return count
            }
        }
    }
    /// The first deliveries of a subscription: an event's value, or a gap's description.
    private func read<E: DomainEvent & Equatable>(
        _ count: Int, _ type: E.Type, from start: StreamPosition = .beginning, cursors: String? = nil
    ) async throws -> [(event: E, sequence: UInt64)] {
        let relay = try EventRelay(
            following: Self.name, on: bus.bus, interfaces: E.Interface.self, cursors: cursors)
        let stream = try relay.events(of: E.self, from: start)
        relay.activate()
        var events: [(E, UInt64)] = []
        for await delivery in stream {
            switch delivery {
            case .event(let event, let stamp): events.append((event, stamp.sequence))
            case .gap(let gap): Issue.record("\(gap)")
            }
            if events.count == count { break }
        }
        relay.invalidate()
        return events
    }

    @Test("an old front end goes on over the upgrade, with its place and the whole history, and without a gap")
    func upgrade() async throws {
        let cursors = try TestFolder()
        try await serveFirst { service in
            for id: Int64 in 1...2 { try await service.publish(Orders1.Placed(orderID: id, total: 1)) }
            let events = try await read(2, Orders1.Placed.self, from: .resuming("desk"), cursors: cursors.path)
            #expect(events.map(\.event.orderID) == [1, 2])
        }
        try await serveBoth { service, _ in
            try await service.publish(Orders2.Placed(id: "3", totals: [2, 3]))
            try await service.publish(Orders2.Audited(by: "me"))
            try await service.publish(Orders2.Split(ids: ["4", "5"]))
            try await service.publish(Orders2.Split(ids: []))
            try await service.publish(contentsOf: [Orders2.Placed(id: "6", totals: []), .init(id: "7", totals: [])])
            // The last one was not finished with: it comes again.
            let events = try await read(6, Orders1.Placed.self, from: .resuming("desk"), cursors: cursors.path)
            #expect(events.map(\.event.orderID) == [2, 3, 4, 5, 6, 7] && events.dropFirst().first?.event.total == 5)
            let all = try await read(7, Orders1.Placed.self)
            #expect(all.map(\.event.orderID) == Array(1...7) && all.map(\.sequence) == Array(1...7))
            let new = try await read(3, Orders2.Placed.self)
            #expect(new.map(\.event.id) == ["3", "6", "7"])
        }
    }
    @Test("live events of both versions arrive, and those of a unit that is undone in neither") func live() async throws
    {
        try await serveBoth { service, journal in
            let relay = try EventRelay(following: Self.name, on: bus.bus, interfaces: Orders1.self, Orders2.self)
            let old = EventRecorder(relay.publisher, of: Orders1.self)
            let new = EventRecorder(relay.publisher, of: Orders2.self)
            relay.activate()
            try await relay.ready()
            struct Undone: Error {}
            await #expect(throws: Undone.self) {
                try await journal.unitOfWork { unit in
                    try unit.publish(Orders2.Placed(id: "1", totals: []))
                    throw Undone()
                }
            }
            try await journal.unitOfWork { unit in
                try unit.publish(Orders2.Placed(id: "2", totals: []))
                try unit.publish(Orders1.Placed(orderID: 3, total: 0))
                try unit.publish(Orders2.Split(ids: ["4"]))
            }
            try await relay.barrier()
            #expect(old.events(of: Orders1.Placed.self).map(\.orderID) == [2, 3, 4])
            #expect(new.events(of: Orders2.Placed.self).map(\.id) == ["2"])
            #expect(new.events(of: Orders2.Split.self).count == 1)
            relay.invalidate()
        }
    }
    @Test("a kill before or after the commit leaves events of both versions, or of neither") func kills() async throws {
        let copies = Mutex<[JournalStep: JournalCopy]>([:])
        let isArmed = Mutex(false)
        let source = folder.database
        let faults = JournalFaults { step in
            guard [.beforeCommit, .afterCommit, .betweenEmissions].contains(step), isArmed.withLock({ $0 }) else {
                return
            }
            // What is on disk at this moment is what a kill would leave.
            copies.withLock { copies in
                guard copies[step] == nil, let directory = try? TestFolder() else { return }
                let copy = JournalCopy(directory: directory)
                for suffix in ["", "-wal"] { copy.write(copy.bytes(source + suffix), to: copy.path + suffix) }
                copies[step] = copy
            }
        }
        try await serveBoth(faults) { service, _ in
            isArmed.withLock { $0 = true }
            try await service.publish(Orders2.Split(ids: ["1", "2"]))
            isArmed.withLock { $0 = false }
        }
        for (step, count) in [(JournalStep.beforeCommit, 0), (.afterCommit, 1), (.betweenEmissions, 1)] {
            let copy = try #require(copies.withLock { $0[step] })
            let journal = try EventJournal(directory: copy.directory.path)
            _ = try EventService(
                name: Self.name, on: bus.bus, exporting: Orders2.self, older: Orders2.servingFirst, journal: journal)
            #expect(try await journal.statistics(of: Orders2.self).events == count, "\(step)")
            #expect(try await journal.statistics(of: Orders1.self).events == 2 * count, "\(step)")
            journal.close()
        }
    }
    @Test("old commands run as new ones: replies, progress, refusals, and keys") func commands() async throws {
        try await serveBoth { service, journal in
            let relay = try EventRelay(following: Self.name, on: bus.bus, interfaces: Orders1.self, Orders2.self)
            relay.activate()
            #expect(try await relay.call(Orders1.Place(title: "a", idempotencyKey: nil)).orderID == 1)
            // A retry is a repetition, by the same version and by the other one.
            for _ in 0..<2 {
                #expect(try await relay.call(Orders1.Place(title: "b", idempotencyKey: "k")).orderID == 2)
            }
            #expect(try await relay.call(Orders2.Place(title: "b", urgent: false, idempotencyKey: "k")).id == "2")
            #expect(try await relay.call(Orders2.Place(title: "c", urgent: false, idempotencyKey: "l")).id == "3")
            #expect(try await relay.call(Orders1.Place(title: "c", idempotencyKey: "l")).orderID == 3)
            let reused = await relay.outcome(of: Orders1.Place(title: "other", idempotencyKey: "k"))
            guard case .failed(let error) = reused else { throw RelayError(.internalFailure, "\(reused)") }
            #expect(error.code == .keyReused)
            // Of the same name; and of none.
            guard
                case .refused(.tooLong) = await relay.outcome(
                    of: Orders1.Place(title: "much too long", idempotencyKey: nil))
            else { throw RelayError(.internalFailure, "not refused") }
            guard case .failed(let other) = await relay.outcome(of: Orders1.Place(title: "closed", idempotencyKey: nil))
            else { throw RelayError(.internalFailure, "not refused") }
            #expect(other.code == .invalidArgument && !other.mayHaveRun)
            let reported = Mutex<[Int32]>([])
            let running = relay.start(Orders1.Place(title: "d", idempotencyKey: nil))
            for await progress in running.progress { reported.withLock { $0.append(progress.percent) } }
            #expect(try await running.outcome.get().orderID == 4)
            #expect(reported.withLock { $0 } == [50])
            // A refusal's events, too.
            #expect(try await journal.statistics(of: Orders1.self).events == 6)
            #expect(try await journal.statistics(of: Orders2.self).events == 6)
            relay.invalidate()
        }
    }
    @Test("a document of the old version follows the new one's, in one transaction, over restarts") func documents()
        async throws
    {
        try await serveBoth { service, journal in
            try await service.document(Orders2.Desk.self).set(Orders2.Desk(open: ["a", "b"]))
            #expect(try service.document(Orders1.Desk.self).state.open == 2)
            try await journal.unitOfWork { unit in
                try unit.set(Orders2.Desk(open: ["a"]))
                #expect(try unit.get(Orders1.Desk.self).open == 1)
            }
            // The old one stays the same: it gets no entry.
            try await service.document(Orders2.Desk.self).update { $0.open = ["c"] }
            #expect(try service.document(Orders1.Desk.self).version.sequence == 2)
        }
        try await serveBoth { service, _ in
            let (old, new) = (try service.document(Orders1.Desk.self), try service.document(Orders2.Desk.self))
            #expect(old.state.open == 1 && new.state.open == ["c"])
        }
    }

    // MARK: Documents

    /// Runs a release with the second version alone.
    private func serveSecond(_ body: (EventService) async throws -> Void) async throws {
        let journal = try EventJournal(directory: folder.path)
        let service = try EventService(name: Self.name, on: bus.bus, exporting: Orders2.self, journal: journal)
        service.handle(Orders2.Place.self) { _, _ in Orders2.Place.Reply(id: "0") }
        try await service.start()
        try await body(service)
        try await service.stop()
        journal.close()
    }
    private func relay(_ interface: any EventInterface.Type) throws -> EventRelay {
        let relay = try EventRelay(following: Self.name, on: bus.bus, interfaces: interface)
        relay.activate()
        return relay
    }
    @Test("an old front end sees a state at once: the new one's, or what an earlier release has left until that is set")
    func firstState() async throws {
        try await serveFirst { try await $0.document(Orders1.Desk.self).set(Orders1.Desk(open: 7)) }
        try await serveBoth { service, _ in
            let relay = try relay(Orders1.self)
            #expect(try await relay.snapshot(of: Orders1.Desk.self).state.open == 7)
            // Neither was ever set.
            let rack = try await relay.snapshot(of: Orders1.Rack.self)
            #expect(rack.state.labels == "new" && rack.version.sequence == 0)
            relay.invalidate()
        }
        // A release without the old version changes what it would be.
        try await serveSecond { try await $0.document(Orders2.Desk.self).set(Orders2.Desk(open: ["a", "b"])) }
        for _ in 0..<2 {
            try await serveBoth { service, _ in
                let desk = try service.document(Orders1.Desk.self)
                #expect(desk.state.open == 2 && desk.version.sequence == 2)
                let relay = try relay(Orders1.self)
                #expect(try await relay.snapshot(of: Orders1.Desk.self).state.open == 2)
                // Its states are entries like any other.
                var states: [[DBusValue]] = []
                for await delivery in try relay.envelopes(of: Orders1.name, named: ["Desk"], from: .beginning) {
                    guard case .event(let entry, _) = delivery else { continue }
                    states.append(try entry.values())
                    if states.count == 2 { break }
                }
                #expect(states == [[.int32(7)], [.int32(2)]])
                relay.invalidate()
            }
        }
    }
    enum Decision: CaseIterable { case none, handler, unit }
    private func decide(_ decision: Decision, _ service: EventService, _ journal: EventJournal, _ count: Counter) {
        let rule: @Sendable (Submission<Orders2.Rack>) throws -> Orders2.Rack = { submission in
            count.next()
            if submission.state.labels.count > Int(submission.present.size) { throw Orders2.Rack.Refusal.full }
            if submission.state.labels == ["broken"] { throw Orders2.Rack.Refusal.broken }
            return submission.state
        }
        switch decision {
        case .none: break
        case .handler: service.handleSubmissions(of: Orders2.Rack.self) { try rule($0) }
        case .unit:
            service.handleSubmissions(of: Orders2.Rack.self) { submission, unit in
                try unit.publish(Orders2.Audited(by: "rack"))
                return try rule(submission)
            }
        }
    }
    @Test(
        "a submission of the old document is one of the new one: its handler decides, and both are set",
        arguments: Decision.allCases)
    func submissions(decision: Decision) async throws {
        let count = Counter()
        var (base, set) = (DocumentVersion(epoch: 0, sequence: 0), DocumentVersion(epoch: 0, sequence: 0))
        try await serveBoth { service, journal in
            decide(decision, service, journal, count)
            let (old, new) = (try relay(Orders1.self), try relay(Orders2.self))
            let rack = try service.document(Orders2.Rack.self)
            base = try await old.snapshot(of: Orders1.Rack.self).version
            set = try await old.submit(Orders1.Rack(labels: "a b"), basedOn: base, idempotencyKey: "k")
            #expect(set == (try await old.snapshot(of: Orders1.Rack.self).version) && set.sequence == 1)
            #expect(rack.state == Orders2.Rack(labels: ["a", "b"], size: 3))
            #expect(try await old.submit(Orders1.Rack(labels: "a b"), basedOn: base, idempotencyKey: "k") == set)
            let late = await old.outcome(ofSubmitting: Orders1.Rack(labels: "c"), basedOn: base)
            #expect(late == .conflict)
            // The new document changes, and the old one stays as it is: no conflict for an old front end.
            try await new.update(Orders2.Rack.self) { $0.size = 2 }
            #expect(try await old.snapshot(of: Orders1.Rack.self).version == set)
            try await old.update(Orders1.Rack.self) { $0.labels = "c d" }
            #expect(rack.state == Orders2.Rack(labels: ["c", "d"], size: 2))
            let present = try await old.snapshot(of: Orders1.Rack.self)
            let empty = await old.outcome(ofSubmitting: Orders1.Rack(labels: ""), basedOn: present.version)
            #expect(empty == .refused(.empty))
            if decision != .none {
                let full = await old.outcome(ofSubmitting: Orders1.Rack(labels: "c d e"), basedOn: present.version)
                #expect(full == .refused(.full))
                let broken = await old.outcome(ofSubmitting: Orders1.Rack(labels: "broken"), basedOn: present.version)
                guard case .failed(let error) = broken else { throw RelayError(.internalFailure, "\(broken)") }
                #expect(error.code == .invalidArgument && !error.mayHaveRun)
                #expect(count.value == 5)
            }
            #expect(rack.state == Orders2.Rack(labels: ["c", "d"], size: 2))
            // An undone unit leaves nothing: there are three entries, and with a unit an event with each.
            #expect(try await journal.statistics(of: Orders2.self).events == (decision == .unit ? 6 : 3))
            old.invalidate()
            new.invalidate()
        }
        try await serveBoth { service, journal in
            decide(decision, service, journal, count)
            let old = try relay(Orders1.self)
            let again = try await old.submit(Orders1.Rack(labels: "a b"), basedOn: base, idempotencyKey: "k")
            #expect(again == set)
            #expect(try service.document(Orders2.Rack.self).state == Orders2.Rack(labels: ["c", "d"], size: 2))
            old.invalidate()
        }
    }
    @Test("old and new front ends edit at once: no change is lost, and both documents agree") func editors()
        async throws
    {
        try await serveBoth { service, _ in
            let (old, new) = (try relay(Orders1.self), try relay(Orders2.self))
            try await service.document(Orders2.Rack.self).set(Orders2.Rack(labels: [], size: 0))
            try await withThrowingTaskGroup { group in
                group.addTask {
                    for number in 0..<10 {
                        try await old.update(Orders1.Rack.self, within: .seconds(120)) { $0.labels += " o\(number)" }
                    }
                }
                group.addTask {
                    for number in 0..<10 {
                        try await new.update(Orders2.Rack.self, within: .seconds(120)) { rack in
                            rack.labels.append("n\(number)")
                        }
                        try await new.update(Orders2.Rack.self, within: .seconds(120)) { $0.size += 1 }
                    }
                }
                try await group.waitForAll()
            }
            let rack = try service.document(Orders2.Rack.self).state
            #expect(rack.size == 10 && Set(rack.labels).count == 20 && rack.labels.count == 20)
            #expect(try service.document(Orders1.Rack.self).state.labels == rack.labels.joined(separator: " "))
            old.invalidate()
            new.invalidate()
        }
    }
}
