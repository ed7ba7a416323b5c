import Glibc
import RelayCore
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayJournal

@Suite("An idle service with a journal", .heavy, .tags(.g6)) struct IdleServiceTests {
    @Test("an open unit of work keeps it; then it ends, and the next journal, which waited, has the directory")
    func unit() async throws {
        let (bus, folder) = (try PrivateBus(), try TestFolder())
        let journal = try EventJournal(directory: folder.path, synchronous: .normal)
        let service = try EventService(
            name: "org.example.Archive", on: bus.bus, exporting: Archive1.self, journal: journal)
        service.handle(File.self) { _, _ in }
        let isStopping = Atomic<Bool>(false)
        try await service.start()
        let running = Task {
            try await service.run(idleExit: .zero, onStopping: { isStopping.store(true, ordering: .releasing) })
            journal.close()
        }
        let door = UnitDoor()
        let unit = Task {
            try await journal.unitOfWork { unit in
                door.wait()
                try unit.publish(Filed(number: 1))
            }
        }
        #expect(await eventually { door.isWaited })
        let relay = try EventRelay(following: "org.example.Archive", on: bus.bus, interfaces: Archive1.self)
        relay.activate()
        // It is used, and looked at behind that.
        for _ in 1...2 { _ = try await relay.call(File()) }
        let hasDecided = isStopping.load(ordering: .acquiring)
        #expect(!hasDecided)
        async let next = EventJournal.open(directory: folder.path, waiting: .seconds(300), synchronous: .normal)
        door.open()
        try await unit.value
        try await running.value
        try await next.close()
    }
    @Test("a wait for the directory ends with its time, and with its task") func bounded() async throws {
        let folder = try TestFolder()
        let journal = try EventJournal(directory: folder.path, synchronous: .normal)
        await #expect {
            try await EventJournal.open(directory: folder.path, waiting: .milliseconds(30))
        } throws: {
            .conflict ~= $0
        }
        let waiting = Task { _ = try await EventJournal.open(directory: folder.path, waiting: .seconds(86_400)) }
        waiting.cancel()
        await #expect { try await waiting.value } throws: { .cancelled ~= $0 }
        journal.close()
    }
}

enum Archive1: EventInterface {
    static let name = "org.example.Archive1"
    static var contract: Contract<Self> {
        Filed.self
        File.self
    }
}
struct Filed: DomainEvent {
    typealias Interface = Archive1
    var number: Int64
}
struct File: Command {
    typealias Interface = Archive1
}

/// What a unit of work waits at, on whichever thread it is.
private final class UnitDoor: Sendable {
    private let isOpen = Atomic<Bool>(false)
    private let waits = Atomic<Bool>(false)
    var isWaited: Bool { waits.load(ordering: .acquiring) }
    func open() { isOpen.store(true, ordering: .releasing) }
    func wait() {
        waits.store(true, ordering: .releasing)
        while !isOpen.load(ordering: .acquiring) { usleep(1_000) }
    }
}
