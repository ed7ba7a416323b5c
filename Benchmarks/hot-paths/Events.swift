import Dispatch
import Glibc
import RelayCore

/// Lets a receiver have its events by the hundreds: it is held in the first one's handler until all are on their way.
///
/// So a batch costs one wake, and all else is what each event costs; and it is the same each time.
final class Batch: Sendable {
    static let size = 256
    private let hasFirst = DispatchSemaphore(value: 0)
    private let isComplete = DispatchSemaphore(value: 0)
    private let hasLast = DispatchSemaphore(value: 0)

    func publish(_ count: Int, publish: (_ number: UInt64) throws -> Void) rethrows {
        for start in stride(from: 0, to: count, by: Self.size) {
            try publish(UInt64(start))
            hasFirst.wait()
            for number in start + 1..<start + Self.size { try publish(UInt64(number)) }
            // What the bus is still handing on shall be there, too. Nothing in this process runs meanwhile.
            usleep(20_000)
            isComplete.signal()
            hasLast.wait()
        }
    }
    func received(_ number: UInt64) {
        let place = Int(number) % Self.size
        if place == 0 {
            hasFirst.signal()
            isComplete.wait()
        }
        if place == Self.size - 1 { hasLast.signal() }
    }
}

enum Events {
    /// From `publish` to the handler of a relay in this process, whatever carries them.
    static func pass<E: NumberedEvent>(
        _ interface: any EventInterface.Type, _ event: E, _ count: Int, _ bus: Bus
    ) async throws {
        let service = try EventService(name: Names.service, on: bus, exporting: interface)
        let running = await Running(service)
        let relay = try EventRelay(following: Names.service, on: bus, interfaces: interface)
        let batch = Batch()
        let subscription = relay.publisher.subscribe(to: E.self, delivery: .immediate) {
            batch.received($0.number)
        } onGap: { _ in
        }
        relay.activate()
        for await state in relay.states {
            if case .active = state { break }
            if case .invalidated(let error) = state { throw error }
        }
        // A thread of its own: it blocks, which the pool's only one must not.
        try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
            do throws(SystemError) {
                try OwnThread.start("publisher") {
                    done.resume(with: Result { try publish(event, count, service, batch) })
                }
            } catch { done.resume(throwing: error) }
        }
        subscription.cancel()
        relay.invalidate()
        try await running.end()
    }
    private static func publish<E: NumberedEvent>(
        _ event: E, _ count: Int, _ service: EventService, _ batch: Batch
    ) throws {
        var event = event
        try batch.publish(count) { number in
            event.number = number
            try service.publish(event)
        }
    }
}
