import Dispatch
import Glibc
import PeerSupport
import RelayCore
import RelayJournal

/// The service of command-bench. It ends with the process, when stdin does.
enum Answering {
    static func run(_ options: peer_options, on bus: Bus) async throws {
        if let directory = options.directory {
            try await keep(in: String(cString: directory), on: bus)
        } else {
            try await echo(options, on: bus)
        }
    }

    private static func echo(_ options: peer_options, on bus: Bus) async throws {
        let service = try EventService(name: PEER_SERVICE, on: bus, exporting: BenchCalls1.self, Bench1.self)
        service.handle(Echo.self) { command, _ in Echo.Reply(text: command.text) }
        if options.count > 0 {
            // Its strings are the command line's, which nobody changes.
            nonisolated(unsafe) let options = options
            // A thread of its own: it sleeps between events, which the pool's few threads must not.
            DispatchQueue.global().async { publish(options, on: service) }
        }
        try await service.run { peer_serve() }
    }
    private static func publish(_ options: peer_options, on service: EventService) {
        var (options, number) = (options, UInt64(0))
        let text = PEER_TEXT
        while case let idle = peer_idle_milliseconds(&options), idle >= 0 {
            while peer_event_is_due(&options, &number) {
                let event = Ticked(number: number, sentAt: peer_now(), text: text, a: Int64(bitPattern: 0 &- number))
                do { try service.publish(event) } catch { peer_fail("relay-peer", "\(error)") }
            }
            usleep(UInt32(idle) * 1_000)
        }
    }

    private static func keep(in directory: String, on bus: Bus) async throws {
        let journal = try EventJournal(directory: directory)
        _ = try await journal.migrate(
            "jobs", by: [Migration("jobs", "CREATE TABLE jobs (id INTEGER PRIMARY KEY, title TEXT NOT NULL)")])
        let service = try EventService(name: PEER_SERVICE, on: bus, exporting: BenchKept1.self, journal: journal)
        service.handle(Keep.self) { command, _, unit in
            let insert: SQL = "INSERT INTO jobs (title) VALUES (\(command.text)) RETURNING id"
            let id = try unit.query(insert, as: Int64.self)[0]
            try unit.publish(Stored(number: id, text: command.text))
            return Keep.Reply(text: command.text)
        }
        try await service.run { peer_serve() }
    }
}
