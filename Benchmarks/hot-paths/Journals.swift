import RelayCore
import RelayJournal

enum Journals {
    /// What `replay` and `handle` read.
    static func fill(_ count: Int, folder: String) async throws {
        let journal = try EventJournal(directory: folder)
        let service = try EventService(name: Names.service, exporting: Kept1.self, journal: journal)
        try await service.publish(contentsOf: (0..<count).map { Kept($0) })
        journal.close()
    }
    /// Each in a transaction of its own; without a bus, as a service publishes before it runs.
    static func commit(_ count: Int, folder: String) async throws {
        let journal = try EventJournal(directory: folder)
        let service = try EventService(name: Names.service, exporting: Kept1.self, journal: journal)
        for number in 0..<count { try await service.publish(Kept(number)) }
        journal.close()
    }
    /// Many in each unit of work, so that what a commit costs is no event's; to a handler.
    static func commitUnits(_ count: Int, folder: String, _ bus: Bus) async throws {
        let journal = try EventJournal(directory: folder)
        let service = try EventService(name: Names.service, on: bus, exporting: Kept1.self, journal: journal)
        let running = await Running(service)
        let relay = try EventRelay(following: Names.service, on: bus, interfaces: Kept1.self)
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let subscription = relay.publisher.subscribe(to: Kept.self, delivery: .immediate) {
            if $0.itemID == count - 1 { end.yield() }
        } onGap: { _ in
        }
        relay.activate()
        for await state in relay.states { if case .active = state { break } }
        for start in stride(from: 0, to: count, by: 64) {
            try await journal.unitOfWork { unit in
                for number in start..<start + 64 { try unit.publish(Kept(number)) }
            }
        }
        for await _ in ends { break }
        subscription.cancel()
        relay.invalidate()
        try await running.end()
        journal.close()
    }
    /// Reads all events of a journal that has so many, from a stream.
    static func replay(_ count: Int, folder: String, _ bus: Bus) async throws {
        try await read(folder: folder, bus) { relay in
            let events = try relay.events(of: Kept.self, from: .beginning)
            relay.activate()
            var next: Int64 = 0
            for await delivery in events {
                guard case .event(let event, _) = delivery, event.itemID == next else {
                    throw RelayError(.internalFailure, "\(delivery) in the place of event \(next)")
                }
                next += 1
                if next == count { break }
            }
        }
    }
    /// The same, by a handler.
    static func handle(_ count: Int, folder: String, _ bus: Bus) async throws {
        try await read(folder: folder, bus) { relay in
            let (ends, end) = AsyncStream.makeStream(of: Void.self)
            nonisolated(unsafe) var next: Int64 = 0  // Of the handler, which runs for one event at a time.
            let subscription = try relay.subscribe(to: Kept.self, from: .beginning) { event in
                precondition(event.itemID == next)
                next += 1
                if next == count { end.yield() }
            } onGap: { gap in
                preconditionFailure("\(gap)")
            }
            relay.activate()
            for await _ in ends { break }
            subscription.cancel()
        }
    }
    private static func read(folder: String, _ bus: Bus, _ body: (EventRelay) async throws -> Void) async throws {
        let journal = try EventJournal(directory: folder)
        let service = try EventService(name: Names.service, on: bus, exporting: Kept1.self, journal: journal)
        let running = await Running(service)
        let relay = try EventRelay(following: Names.service, on: bus, interfaces: Kept1.self)
        try await body(relay)
        relay.invalidate()
        try await running.end()
        journal.close()
    }
}
