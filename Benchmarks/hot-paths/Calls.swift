import Glibc
import RelayCore
import RelayJournal

/// A call and its reply, one after the other.
enum Calls {
    static func both(_ count: Int, _ bus: Bus) async throws {
        let running = await Running(try service(bus) {})
        try await call(count, bus)
        try await running.end()
    }
    static func call(_ count: Int, _ bus: Bus) async throws {
        let relay = try EventRelay(following: Names.service, on: bus, interfaces: Commands1.self)
        relay.activate()
        for number in 0..<Int64(count) {
            let reply = try await relay.call(Add(first: number, second: 1))
            precondition(reply.sum == number + 1)
        }
        relay.invalidate()
    }
    static func enter(_ count: Int, _ bus: Bus) async throws {
        let relay = try EventRelay(following: Names.service, on: bus, interfaces: Jobs1.self)
        relay.activate()
        for number in 0..<Int64(count) {
            let reply = try await relay.call(Enter(title: "Cast-iron frying pan"))
            precondition(reply.id == number + 1)
        }
        relay.invalidate()
    }
    static func answer(_ count: Int, _ bus: Bus) async throws {
        try await serve(count) { didCall in try service(bus, didCall) }
    }
    /// A row of a table of the service's own, and an event, by one commit for each call.
    static func keep(_ count: Int, _ bus: Bus, folder: String) async throws {
        let journal = try EventJournal(directory: folder)
        let table: SQL = "CREATE TABLE jobs (id INTEGER PRIMARY KEY, title TEXT NOT NULL)"
        _ = try await journal.migrate("jobs", by: [Migration("jobs", table)])
        try await serve(count) { didCall in
            let service = try EventService(name: Names.service, on: bus, exporting: Jobs1.self, journal: journal)
            service.handle(Enter.self) { command, _, unit in
                didCall()
                let insert: SQL = "INSERT INTO jobs (title) VALUES (\(command.title)) RETURNING id"
                let id = try unit.query(insert, as: Int64.self)[0]
                try unit.publish(Entered(id: id, title: command.title))
                return Enter.Reply(id: id)
            }
            return service
        }
        journal.close()
    }
    /// Says when a caller may begin, and ends after so many calls.
    private static func serve(
        _ count: Int, _ service: (_ didCall: @escaping @Sendable () -> Void) throws -> EventService
    ) async throws {
        let (calls, called) = AsyncStream.makeStream(of: Void.self)
        nonisolated(unsafe) var left = count  // Of the handler, which runs for one call at a time.
        let running = await Running(
            try service {
                left -= 1
                if left == 0 { called.finish() }
            })
        print("ready")
        fflush(nil)
        for await _ in calls {}
        // Answers what it has begun.
        try await running.end()
    }
    private static func service(_ bus: Bus, _ didCall: @escaping @Sendable () -> Void) throws -> EventService {
        let service = try EventService(name: Names.service, on: bus, exporting: Commands1.self)
        service.handle(Add.self) { command, _ in
            didCall()
            return Add.Reply(sum: command.first + command.second)
        }
        return service
    }
}
