import Glibc
import RelayCore

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
    /// Says when a caller may begin, and ends after so many calls.
    static func answer(_ count: Int, _ bus: Bus) async throws {
        let (calls, called) = AsyncStream.makeStream(of: Void.self)
        nonisolated(unsafe) var left = count  // Of the handler, which runs for one call at a time.
        let running = await Running(
            try service(bus) {
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
