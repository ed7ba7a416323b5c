import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore
@testable import RelayJournal
import RelayWire

private enum Press1: EventInterface {
    static let name = "org.example.Press1"
    static let durability = Durable(retention: Retention(count: 2))
    static var contract: Contract<Self> {
        Printed.self
        Queue.self
        Setup.self
    }
    struct Printed: DomainEvent {
        typealias Interface = Press1
        let number: Int64
    }
    struct Queue: DomainDocument {
        typealias Interface = Press1
        var titles: [String]
        static let initial = Self(titles: [])
    }
    struct Setup: EditableDocument {
        typealias Interface = Press1
        var tray: Int32
        static let initial = Self(tray: 1)
        enum Refusal: String, CommandRefusal { case noSuchTray = "NoSuchTray" }
    }
}
private enum Lamp1: EventInterface {
    static let name = "org.example.Lamp1"
    static let durability = Volatile()
    static var contract: Contract<Self> { Light.self }
    struct Light: DomainDocument {
        typealias Interface = Lamp1
        var isOn: Bool
        static let initial = Self(isOn: false)
    }
}
/// Later versions of the press.
private enum LaterPress1: EventInterface {
    static let name = Press1.name
    static var contract: Contract<Self> { Queue.self }
    struct Queue: DomainDocument {
        typealias Interface = LaterPress1
        var titles: [String]
        var isHalted: Bool?
        static let initial = Self(titles: [], isHalted: false)
    }
}
private enum OtherPress1: EventInterface {
    static let name = Press1.name
    static var contract: Contract<Self> { Queue.self }
    struct Queue: DomainDocument {
        typealias Interface = OtherPress1
        var titles: Int64
        static let initial = Self(titles: 0)
    }
}
/// In which the document was an event.
private enum EarlierPress1: EventInterface {
    static let name = Press1.name
    static var contract: Contract<Self> { Queue.self }
    struct Queue: DomainEvent {
        typealias Interface = EarlierPress1
        var titles: [String]
    }
}

@Suite("Documents in a journal", .heavy, .tags(.g5, .g6)) struct JournalDocumentTests {
    private let folder: TestFolder
    init() throws { folder = try TestFolder() }

    /// A service without a bus.
    private func serve(
        _ journal: EventJournal, _ interfaces: any EventInterface.Type...
    ) async throws -> EventService {
        let service = try EventService(
            "org.example.Press", TestHarness().bus, interfaces, journal: journal
        ) { _ in }
        return service
    }
    private func context(_ user: UInt32 = 1_000) -> CommandContext { CommandContext(peer: Peer(userID: user)) }

    @Test("a document is set with the state and the events of its unit, or not at all") func atomic() async throws {
        let journal = try EventJournal(directory: folder.path)
        let service = try await serve(journal, Press1.self)
        let queue = try service.document(Press1.Queue.self)
        try await journal.unitOfWork { unit in
            try unit.publish(Press1.Printed(number: 1))
            let before = try unit.get(Press1.Queue.self)
            #expect(before == .initial)
            try unit.set(Press1.Queue(titles: ["a"]))
            let after = try unit.get(Press1.Queue.self)
            #expect(after.titles == ["a"], "a unit sees what it has set")
            try unit.set(Press1.Queue(titles: ["a"]))
            try unit.publish(Press1.Printed(number: 2))
        }
        #expect(queue.state.titles == ["a"] && queue.version.sequence == 2, "an equal state is no entry")
        await #expect(throws: CancellationError.self) {
            try await journal.unitOfWork { unit in
                try unit.set(Press1.Queue(titles: ["b"]))
                throw CancellationError()
            }
        }
        try await journal.unitOfWork { unit in
            let present = try unit.get(Press1.Queue.self)
            #expect(present.titles == ["a"], "what was undone is not seen")
        }
        #expect(queue.state.titles == ["a"] && queue.version.sequence == 2)
        // Back to what it was, within one unit: there are two entries, since each is one.
        try await journal.unitOfWork { unit in
            try unit.set(Press1.Queue(titles: ["c"]))
            try unit.set(Press1.Queue(titles: ["a"]))
        }
        #expect(queue.version.sequence == 5)
    }
    @Test("units that share a commit see each other's documents, and a failed one's is undone alone")
    func group() async throws {
        let journal = try EventJournal(directory: folder.path, faults: JournalFaults(), permit: nil)
        let service = try await serve(journal, Press1.self)
        // The writer is held, so that all of these wait for one commit.
        let gate = Held()
        async let held: Void = journal.storage.call { _ in gate.wait() }
        #expect(await eventually { gate.isHeld })
        let results = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<20 {
                group.addTask {
                    do {
                        return try await journal.unitOfWork { unit in
                            var queue = try unit.get(Press1.Queue.self)
                            queue.titles.append("\(number)")
                            try unit.set(queue)
                            if number.isMultiple(of: 5) { throw CancellationError() }
                            return queue.titles.count
                        }
                    } catch is CancellationError { return 0 }
                }
            }
            #expect(await eventually { journal.storage.waiting == 20 })
            gate.release()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        await held
        #expect(results.sorted() == [0, 0, 0, 0] + Array(1...16))
        #expect(try service.document(Press1.Queue.self).version.sequence == 16)
    }
    @Test("a document outlives the retention of its interface, and the journal's restart") func retained() async throws
    {
        for round in 0..<3 as Range<Int64> {
            let journal = try EventJournal(directory: folder.path)
            let service = try await serve(journal, Press1.self)
            let queue = try service.document(Press1.Queue.self)
            #expect(
                queue.state.titles == (0..<round).map { "\($0)" }
                    && queue.version.sequence == (round == 0 ? 0 : UInt64(round) * 11 - 10))
            try await queue.update { $0.titles.append("\(round)") }
            for number in 1...10 as ClosedRange<Int64> { try await service.publish(Press1.Printed(number: number)) }
            let isPruned = await eventually {
                let figures = (try? await journal.storage.figures(of: Press1.name)) ?? []
                return figures.contains { $0.name == "events" && $0.value <= 2 }
            }
            #expect(isPruned)
            #expect(queue.version.sequence == UInt64(round) * 11 + 1)
            journal.close()
        }
        let file = JournalFile(in: folder.path, vfs: nil)
        #expect(try JournalExamination(database: file.connection(isLive: false)).fullContradiction { false } == nil)
    }
    @Test("a state of an earlier version is read by the names of its fields; one that cannot be is refused")
    func evolved() async throws {
        do {
            let journal = try EventJournal(directory: folder.path)
            let service = try EventService(
                "org.example.Press", TestHarness().bus, [EarlierPress1.self], journal: journal
            ) { _ in }
            try await service.publish(EarlierPress1.Queue(titles: ["event"]))
            journal.close()
        }
        do {
            let journal = try EventJournal(directory: folder.path)
            let service = try await serve(journal, Press1.self)
            #expect(try service.document(Press1.Queue.self).state.titles == ["event"], "from the events")
            try await service.document(Press1.Queue.self).set(Press1.Queue(titles: ["document"]))
            journal.close()
        }
        do {
            let journal = try EventJournal(directory: folder.path)
            let service = try await serve(journal, LaterPress1.self)
            let queue = try service.document(LaterPress1.Queue.self)
            #expect(
                queue.state == LaterPress1.Queue(titles: ["document"], isHalted: nil) && queue.version.sequence == 2)
            journal.close()
        }
        let journal = try EventJournal(directory: folder.path)
        await #expect { _ = try await serve(journal, OtherPress1.self) } throws: { error in
            .schemaMismatch ~= error && "\(error)".contains("Queue")
        }
    }
    @Test("a volatile document that a unit sets changes after the commit, or never") func volatile() async throws {
        let journal = try EventJournal(directory: folder.path)
        let service = try await serve(journal, Press1.self, Lamp1.self)
        let light = try service.document(Lamp1.Light.self)
        try await journal.unitOfWork { unit in
            try unit.set(Lamp1.Light(isOn: true))
            let drafted = try unit.get(Lamp1.Light.self)
            #expect(drafted.isOn && !light.state.isOn)
        }
        #expect(light.state.isOn && light.version.sequence == 1)
        try? await journal.unitOfWork { unit in
            try unit.set(Lamp1.Light(isOn: false))
            throw CancellationError()
        }
        #expect(light.state.isOn)
        let isOn = try await journal.unitOfWork { unit in try unit.get(Lamp1.Light.self).isOn }
        #expect(isOn)
    }
    @Test("a document whose service does not exist is refused") func stranger() async throws {
        let journal = try EventJournal(directory: folder.path)
        func set<D: DomainDocument>(_ state: D) async throws {
            try await journal.unitOfWork { unit in try unit.set(state) }
        }
        await #expect { try await set(Press1.Setup(tray: 1)) } throws: { .notFound ~= $0 }
        let service = try await serve(journal, Press1.self)
        #expect { _ = try service.document(Lamp1.Light.self) } throws: { .notFound ~= $0 }
        await #expect { try await set(Lamp1.Light.initial) } throws: { .notFound ~= $0 }
    }

    @Test("a submission is handled in the transaction that sets it: once for an operation, over restarts")
    func submitted() async throws {
        let calls = Mutex(0)
        func open() async throws -> (EventJournal, EventService) {
            let journal = try EventJournal(directory: folder.path)
            let service = try await serve(journal, Press1.self)
            service.handleSubmissions(of: Press1.Setup.self) { submission, unit in
                calls.withLock { $0 += 1 }
                try unit.publish(Press1.Printed(number: Int64(submission.state.tray)))
                if submission.state.tray > 3 { throw Press1.Setup.Refusal.noSuchTray }
                return submission.state
            }
            return (journal, service)
        }
        func submit(_ service: EventService, _ tray: Int32, _ version: DocumentVersion, _ id: String?) async throws
            -> DocumentVersion
        {
            let command = SubmitDocument(Press1.Setup(tray: tray), basedOn: version, idempotencyKey: id)
            let served = service.commands[ObjectIdentifier(SubmitDocument<Press1.Setup>.self)]
            var body = WireWriter()
            try WireCodec(SubmitDocument<Press1.Setup>.self).encode(command, into: &body)
            switch await served?.answer(body.bytes, context()) {
            case .reply(let bytes, _)?:
                let codec = try WireCodec(DocumentVersion.self)
                return try bytes.withUnsafeBytes { try codec.decode($0) }
            case .error(let name, let message)?: throw RelayError(.init(rawValue: name), message)
            default: throw RelayError(.notFound, "no such command")
            }
        }
        let (journal, service) = try await open()
        let first = try service.document(Press1.Setup.self).version
        let second = try await submit(service, 2, first, "one")
        #expect(second == DocumentVersion(epoch: first.epoch, sequence: 2), "behind the event of its unit")
        await #expect { _ = try await submit(service, 3, first, "two") } throws: { error in
            (error as? RelayError)?.code.rawValue == "\(Press1.name).Error.Conflict"
        }
        await #expect { _ = try await submit(service, 4, second, "three") } throws: { error in
            (error as? RelayError)?.code.rawValue == "\(Press1.name).Error.NoSuchTray"
        }
        #expect(calls.withLock { $0 } == 2, "a conflict is none of the handler's business")
        journal.close()

        let (next, again) = try await open()
        #expect(try await submit(again, 2, first, "one") == second)
        #expect(calls.withLock { $0 } == 2)
        let third = try await submit(again, 3, second, "two")
        let setup = try again.document(Press1.Setup.self)
        #expect(setup.state.tray == 3 && setup.version == third && third.sequence == 4 && third.epoch != second.epoch)
        next.close()
    }
}
