import Glibc
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore
import RelayWire

@Suite("A durable service", .heavy, .tags(.g5)) struct DurableServiceTests {
    private static let properties = "org.freedesktop.DBus.Properties"

    @Test("what was committed is on the bus when publish returns, and one counter goes on across runs")
    func publish() async throws {
        let desk = try await DurableDesk()
        try await desk.service.publish(Booked(number: 1, text: "one"))
        try await desk.service.publish(contentsOf: (2...4).map { Struck(number: $0) })
        try await desk.service.publish(contentsOf: [Struck]())
        let attached = try await desk.attach()
        #expect(desk.heard == [1, 2, 3, 4], "all that the answer counts came before it")
        #expect(
            desk.peer.signals.first { $0.member == "Booked" }?.values.prefix(4) == [
                .int64(1), .string("one"), .uint64(1), .uint64(0),
            ])
        #expect(attached.head == 4 && attached.oldest == 1)
        #expect(attached.last == ["Booked": 1, "Struck": 4])
        let next = try await desk.restarted()
        try await next.service.publish(Booked(number: 5, text: ""))
        let again = try await next.attach(attached.epoch, after: 4)
        #expect(again.from == 4 && again.head == 5 && again.epoch != attached.epoch)
        #expect(again.last == ["Booked": 5, "Struck": 4])
        #expect(next.heard == [5])
        #expect(next.peer.signals.last { $0.member == "Booked" }?.values[3] == .uint64(1))
        try await next.stop()
    }
    @Test("a head is announced at the start, and End is the last word") func heads() async throws {
        let desk = try await DurableDesk()
        try await desk.service.publish(Booked(number: 1, text: ""))
        let next = try await desk.restarted()
        _ = try await next.attach()
        let head = next.peer.signals.first { $0.member == "Head" && $0.values[1] == .uint64(1) }
        #expect(
            head?.values.last
                == .dictionary(.dictionary(.string, .uint64), [.init(key: .string("Booked"), value: .uint64(1))]))
        try await next.stop()
        #expect(await eventually { next.peer.signals.contains { $0.member == "End" && $0.values[1] == .uint64(1) } })
        // Too late to be heard, but not to be kept.
        try await next.service.publish(Booked(number: 2, text: ""))
        #expect(next.log.storage.head(of: Ledger1.name) == 2)
        #expect(next.heard == [])
        let last = try await DurableDesk(next.bus, next.log.reopened())
        #expect(try await last.read(after: 1).sequences == [2])
        try await last.stop()
    }
    @Test("many tasks publish, and the bus has it in order, none left out") func order() async throws {
        let desk = try await DurableDesk()
        let (tasks, each) = (16, 50)
        try await withThrowingTaskGroup { group in
            for task in 0..<tasks {
                group.addTask {
                    for number in 0..<each {
                        try await desk.service.publish(Booked(number: Int64(task * each + number), text: "\(task)"))
                    }
                }
            }
            try await group.waitForAll()
        }
        let attached = try await desk.attach()
        #expect(attached.head == UInt64(tasks * each))
        #expect(desk.heard == Array(1...UInt64(tasks * each)))
        try await desk.stop()
    }
    @Test("neither Attach nor a head counts what was committed and has not left") func notAhead() async throws {
        let desk = try await DurableDesk()
        try await desk.service.publish(Booked(number: 1, text: ""))
        desk.log.storage.holdEmission()
        let publishing = Task { try await desk.service.publish(Booked(number: 2, text: "")) }
        #expect(await eventually { desk.log.storage.head(of: Ledger1.name) == 2 })
        var attached = try await desk.attach()
        #expect(attached.head == 1 && attached.last == ["Booked": 1])
        #expect(desk.heard == [1])
        // Whoever read it has it, and may say so.
        #expect(try await desk.attach(attached.epoch, after: 2).from == 1)
        #expect(try await desk.read(after: 0).sequences == [1, 2])
        #expect(try await desk.attach(attached.epoch, after: 2).from == 2)
        #expect(try await desk.attach(attached.epoch, after: 3).from == 2)
        desk.log.storage.releaseEmission()
        try await publishing.value
        attached = try await desk.attach()
        #expect(attached.head == 2 && attached.last == ["Booked": 2])
        #expect(desk.heard == [1, 2])
        try await desk.stop()
    }
    @Test("a service that stops with a commit under way says of it nothing") func stopWithin() async throws {
        let desk = try await DurableDesk()
        try await desk.service.publish(Booked(number: 1, text: ""))
        desk.log.storage.holdEmission()
        let publishing = Task { try await desk.service.publish(Booked(number: 2, text: "")) }
        #expect(await eventually { desk.log.storage.head(of: Ledger1.name) == 2 })
        try await desk.stop()
        desk.log.storage.releaseEmission()
        try await publishing.value
        #expect(
            await eventually { desk.peer.signals.contains { $0.member == "End" && $0.values.count == 3 } })
        let ends = desk.peer.signals.filter { $0.member == "End" }.map { $0.values[1] }
        #expect(Set(ends) == [.uint64(1), .uint64(0)], "the ledger's and the volatile interface's")
        #expect(desk.heard == [1])
        let next = try await DurableDesk(desk.bus, desk.log.reopened())
        #expect(try await next.attach().head == 2)
        #expect(try await next.read(after: 1).sequences == [2])
        try await next.stop()
    }
    @Test("what an answer counts as common is common: nothing without a run, all up to where two histories part")
    func common() async throws {
        let desk = try await DurableDesk()
        try await desk.service.publish(contentsOf: (1...3).map { Struck(number: $0) })
        let first = try await desk.attach()
        #expect(first.details.runs == [StreamRun(epoch: first.epoch, first: 1)])
        #expect(first.details.features == StreamFeature.all)
        let next = try await desk.restarted()
        try await next.service.publish(contentsOf: (4...6).map { Struck(number: $0) })
        let attached = try await next.attach()
        #expect(attached.details.runs == first.details.runs + [StreamRun(epoch: attached.epoch, first: 4)])
        #expect(attached.from == 0 && attached.head == 6)
        for (epoch, after) in [(0, 5), (77, 100), (77, 4)] as [(UInt64, UInt64)] {
            #expect(try await next.attach(epoch, after: after).from == 0)
        }
        // A copy of the journal served run 77 behind the second event of the first run.
        let runs = first.details.runs + [StreamRun(epoch: 77, first: 3)]
        let options = AttachOptions(runs: runs).value
        #expect(try await next.attach(77, after: 5, options: options).from == 2)
        #expect(try await next.attach(77, after: 1, options: options).from == 1)
        // Of a volatile one.
        try next.service.publish(Said(thread: 1, number: 1))
        let path = Stream1.path(of: Plain1.name)
        func from(_ epoch: UInt64, _ after: UInt64) async throws -> RelayCore.Attachment {
            let request: [DBusValue] = [
                .uint64(epoch), .uint64(after), .array(.string, [.string("*")]), AttachOptions().value,
            ]
            return try DurableDesk.attachment(
                await next.peer.call(DurableDesk.name, path, Stream1.name, "Attach", request))
        }
        let plain = try await from(0, 5)
        #expect(plain.from == 0 && plain.details.runs == [])
        #expect(try await from(plain.epoch, 1_000_000_000_000).from == 1)
        try await next.stop()
    }
    @Test("volatile interfaces are as before, beside durable ones") func volatile() async throws {
        let desk = try await DurableDesk()
        try desk.service.publish(Said(thread: 1, number: 1))
        let path = Stream1.path(of: Plain1.name)
        let request: [DBusValue] = [
            .uint64(7), .uint64(9), .array(.string, [.string("*")]), AttachOptions().value,
        ]
        let attached = try DurableDesk.attachment(
            await desk.peer.call(DurableDesk.name, path, Stream1.name, "Attach", request))
        #expect(attached.from == 0 && attached.head == 1 && attached.oldest == .max)
        for (path, durability) in [(path, "volatile"), (DurableDesk.path, "durable")] {
            let value = try await desk.peer.call(
                DurableDesk.name, path, Self.properties, "Get", [.string(Stream1.name), .string("Durability")])
            #expect(value == [.variant(.string(durability))])
        }
        try await desk.stop()
    }
    @Test("volatile events of a unit of work wait for its commit, and keep their places in it") func mixed()
        async throws
    {
        let desk = try await DurableDesk()
        try await desk.peer.listen(Plain1.name)
        let encoder = try #require(desk.log.storage.encoder)
        let unit = [
            try encoder.encode(Said(thread: 1, number: 1)), try encoder.encode(Booked(number: 2, text: "")),
            try encoder.encode(Said(thread: 1, number: 3)), try encoder.encode(Struck(number: 4)),
        ]
        #expect(throws: RelayError.self, "not exported") { _ = try encoder.encode(Unexported(number: 1)) }
        desk.log.storage.holdEmission()
        let committing = Task { try await desk.log.storage.commit(unit) }
        #expect(await eventually { desk.log.storage.head(of: Ledger1.name) == 2 })
        let published = ["Said", "Booked", "Struck"]
        func seen() -> [String] { desk.peer.signals.map(\.member).filter(published.contains) }
        _ = try await desk.attach()
        #expect(seen() == [])
        desk.log.storage.releaseEmission()
        try await committing.value
        _ = try await desk.attach()
        #expect(seen() == ["Said", "Booked", "Said", "Struck"])
        desk.log.storage.failNext(RelayError(.storageFull, "no room"))
        await #expect(throws: RelayError.self) { try await desk.log.storage.commit(unit) }
        _ = try await desk.attach()
        #expect(seen().count == 4, "nothing of a unit that failed")
        try await desk.stop()
    }
    @Test("Status tells people where an interface stands") func status() async throws {
        let desk = try await DurableDesk()
        try await desk.service.publish(contentsOf: (1...5).map { Struck(number: $0) })
        desk.log.storage.prune(Ledger1.name, through: 2)
        func status(_ interface: String) async throws -> [DBusValue: DBusValue] {
            let values = try await desk.peer.call(
                DurableDesk.name, Stream1.path(of: interface), Stream1.name, "Status")
            guard case .dictionary(_, let entries)? = values.first else { return [:] }
            // RingTransportTests and StatusFigureTests look at the rest.
            let others: [DBusValue] = [
                "RingCapacity", "RingOpen", "RingLacking", "SignalsPaused", "Subscribers", "Figures",
                "ServiceFigures",
            ].map { .string($0) }
            return Dictionary(uniqueKeysWithValues: entries.map { ($0.key, $0.value) })
                .filter { !others.contains($0.key) }
        }
        let epoch = try await desk.attach().epoch
        let durable = try await status(Ledger1.name)
        #expect(
            durable == [
                .string("Version"): .variant(.string(RelayVersion.current)),
                .string("Epoch"): .variant(.uint64(epoch)), .string("Durability"): .variant(.string("durable")),
                .string("Head"): .variant(.uint64(5)), .string("Oldest"): .variant(.uint64(3)),
                .string("Events"): .variant(.uint64(3)),
            ])
        let volatile = try await status(Plain1.name)
        #expect(volatile[.string("Durability")] == .variant(.string("volatile")))
        #expect(volatile[.string("Oldest")] == .variant(.uint64(.max)) && volatile.count == 5)
        try await desk.stop()
    }

    // MARK: What goes wrong

    @Test("a durable interface without a journal is refused, and says what to do") func noJournal() throws {
        #expect {
            _ = try EventService(name: DurableDesk.name, exporting: Ledger1.self)
        } throws: { error in
            (error as? RelayError)?.code == .invalidArgument
                && "\(error)".contains("org.example.Ledger1 is durable") && "\(error)".contains("journal:")
        }
    }
    @Test("a journal serves one service") func twice() throws {
        let log = MemoryLog()
        let bus = Bus.address("unix:path=/nowhere")
        let first = try EventService(name: DurableDesk.name, on: bus, exporting: Ledger1.self, journal: log)
        #expect(throws: RelayError.self) {
            _ = try EventService(name: DurableDesk.name, on: bus, exporting: Ledger1.self, journal: log)
        }
        withExtendedLifetime(first) {}
    }
    @Test("what cannot be carried is refused before it is committed") func refused() async throws {
        let desk = try await DurableDesk()
        func code(_ event: Booked) async -> RelayError.Code? {
            do {
                try await desk.service.publish(event)
                return nil
            } catch {
                return (error as? RelayError)?.code
            }
        }
        #expect(await code(Booked(number: 1, text: "a\0b")) == .invalidArgument)
        #expect(await code(Booked(number: 1, text: String(repeating: "x", count: 1 << 20))) == .tooLarge)
        await #expect(throws: RelayError.self) {
            try await desk.service.publish(contentsOf: [Booked(number: 1, text: ""), Booked(number: 2, text: "\0")])
        }
        await #expect(throws: RelayError.self, "not exported") { try await desk.service.publish(Unexported(number: 1)) }
        #expect(desk.log.storage.head(of: Ledger1.name) == 0)
        // The largest that goes in comes out, on every way.
        let header = try MessageTemplate(
            path: DurableDesk.path, interface: Ledger1.name, member: "Booked", signature: Signature("xsttt"))
        let fits = (1 << 20) - header.bodyStart - 2_048 - (8 + 4 + 1)
        #expect(await code(Booked(number: 3, text: String(repeating: "y", count: fits + 1))) == .tooLarge)
        #expect(await code(Booked(number: 3, text: String(repeating: "y", count: fits))) == nil)
        #expect(await eventually { desk.heard == [1] })
        #expect(try await desk.read(after: 0).sequences == [1])
        try await desk.stop()
    }
    @Test(
        "a log that may not grow refuses with the reason, without a path, and lives",
        arguments: [
            (
                nil,
                "the service's disk is full: nothing of Book was done; make room on its file system, and send it again"
            ),
            (
                ENOSPC,
                "the service's disk is full: nothing of Book was done; make room on its file system, and send it again"
            ),
            (
                EDQUOT,
                "the quota of the service's disk is used up: nothing of Book was done; make room within the quota of this "
                    + "user, or raise it, and send it again"
            ),
            (
                EFBIG,
                "the service's journal or its log has reached the largest size that it may have: nothing of Book was done; "
                    + "raise the limit of a file's size (LimitFSIZE=, ulimit -f), and send it again"
            ),
        ] as [(Int32?, String)])
    func full(cause: Int32?, message: String) async throws {
        let desk = try await DurableDesk()
        desk.log.storage.failNext(RelayError(.storageFull, "a secret path", cause: cause.map { SystemError($0) }))
        let refusal = await desk.peer.refusal(DurableDesk.name, DurableDesk.path, Ledger1.name, "Book", [.int64(1)])
        #expect(refusal?.name == "org.eventrelay.Error.StorageFull")
        #expect(refusal?.message == message)
        _ = try await desk.peer.call(DurableDesk.name, DurableDesk.path, Ledger1.name, "Book", [.int64(2)])
        #expect(desk.heard == [1])
        try await desk.stop()
    }
    @Test(
        "a disk that refuses for another reason is named, without a path, and the notice has the error",
        arguments: [
            (
                EROFS, "the file system of the service's journal is read-only",
                "look why it is read-only, and make it writable"
            ),
            (EIO, "the service's disk fails (Input/output error)", "look at the disk"),
        ] as [(Int32, String, String)])
    func failing(cause: Int32, what: String, advice: String) async throws {
        let desk = try await DurableDesk()
        let secret = RelayError(.unavailable, "a secret path", cause: SystemError(cause))
        desk.log.storage.failNext(secret)
        let refusal = await desk.peer.refusal(DurableDesk.name, DurableDesk.path, Ledger1.name, "Book", [.int64(1)])
        #expect(refusal?.name == "org.eventrelay.Error.Unavailable")
        #expect(refusal?.message == "\(what): nothing of Book was done; \(advice), and send it again")
        #expect(
            await eventually { desk.notices.all(of: .commandFailed).contains { $0.cause as? RelayError == secret } })
        // What may have been done is not called undone.
        desk.log.storage.failNext(
            RelayError(.unavailable, "a secret path", cause: SystemError(cause), mayHaveRun: true))
        let doubtful = await desk.peer.refusal(DurableDesk.name, DurableDesk.path, Ledger1.name, "Book", [.int64(2)])
        #expect(doubtful?.name == "org.eventrelay.Error.OutcomeUnknown")
        #expect(doubtful?.message == "the service could not run Book")
        try await desk.stop()
    }
    @Test("a commit of unknown outcome ends the service, after its caller was told", arguments: [false, true])
    func unknown(isCommitted: Bool) async throws {
        let desk = try await DurableDesk()
        try await desk.service.publish(Booked(number: 1, text: ""))
        desk.log.storage.failNext(RelayError(.outcomeUnknown, "an I/O error"), isCommitted: isCommitted)
        let refusal = await desk.peer.refusal(DurableDesk.name, DurableDesk.path, Ledger1.name, "Book", [.int64(2)])
        #expect(refusal?.name == "org.eventrelay.Error.OutcomeUnknown")
        await #expect { try await desk.end() } throws: { RelayError.Code.outcomeUnknown ~= $0 }
        _ = try await desk.peer.call("org.freedesktop.DBus", "/", "org.freedesktop.DBus.Peer", "Ping")
        let ends = desk.peer.signals.filter { $0.member == "End" }.map { $0.values[1] }
        #expect(ends == [.uint64(0)], "of the durable interface nobody knows the last word")
        let next = try await DurableDesk(desk.bus, desk.log.reopened())
        #expect(try await next.attach().head == (isCommitted ? 2 : 1))
        try await next.stop()
    }
    @Test("a log that has failed before keeps a service from taking its name") func failedBefore() async throws {
        let bus = try PrivateBus()
        let log = MemoryLog()
        let service = try EventService(name: DurableDesk.name, on: bus.bus, exporting: Shelf1.self, journal: log)
        log.storage.failNext(RelayError(.outcomeUnknown, "an I/O error"))
        await #expect(throws: RelayError.self) { try await service.publish(Shelved(number: 1)) }
        await #expect { try await service.run() } throws: { RelayError.Code.outcomeUnknown ~= $0 }
        let peer = try await BusStranger.join(bus.bus)
        #expect(try await !peer.hasOwner(DurableDesk.name))
    }
    @Test(
        "the codes that a journal throws reach a caller by their names", arguments: ["OutcomeUnknown", "StorageFull"])
    func names(code: String) async throws {
        let desk = try await DurableDesk()
        let refusal = await desk.peer.refusal(
            DurableDesk.name, DurableDesk.path, Ledger1.name, "Broken", [.string(code)])
        #expect(refusal?.name == "org.eventrelay.Error." + code)
        if let refusal {
            let error = ErrorNames.relayError(refusal, calling: "Broken")
            #expect(error.code.rawValue == code && error.mayHaveRun == (code == "OutcomeUnknown"))
        }
        try await desk.stop()
    }
}

enum Shelf1: EventInterface {
    static let name = "org.example.Shelf1"
    static var contract: Contract<Self> { Shelved.self }
}
struct Shelved: DomainEvent {
    typealias Interface = Shelf1
    var number: Int64
}

private enum Unexported1: EventInterface {
    static let name = "org.example.Unexported1"
    static var contract: Contract<Self> { Unexported.self }
}
private struct Unexported: DomainEvent {
    typealias Interface = Unexported1
    var number: Int
}
