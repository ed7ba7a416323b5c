import Glibc
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore

@Suite("Many interfaces, each with a ring", .heavy, .tags(.g6, .g8)) struct ManyRingsTests {
    private static let name = "org.example.Many"
    /// Runs a service of fifty interfaces, and a relay that follows them all.
    private func follow(
        _ body: (EventService, Received, NoticeRecorder) async throws -> Void
    ) async throws {
        let (bus, notices) = (try PrivateBus(), NoticeRecorder())
        let service = try EventService(
            name: Self.name, on: bus.bus, exporting: ManyInterfaces.types, onNotice: notices.record)
        let (ready, isReady) = AsyncStream.makeStream(of: Void.self)
        let running = Task {
            defer { isReady.finish() }
            try await service.run { isReady.finish() }
        }
        for await _ in ready {}
        let relay = try EventRelay(following: Self.name, on: bus.bus, interfaces: ManyInterfaces.types)
        let received = Received()
        let subscriptions = ManyInterfaces.subscribe(relay.publisher) { number in
            received.numbers.withLock { $0.append(number) }
        }
        relay.activate()
        try await relay.ready()
        try await body(service, received, notices)
        for subscription in subscriptions { subscription.cancel() }
        relay.invalidate()
        running.cancel()
        try await running.value
    }
    private final class Received: Sendable {
        let numbers = Mutex<[Int64]>([])
        private let round = Mutex<Int64>(1)
        var count: Int { numbers.withLock { $0.count } }
        func nextRound() -> Int64 {
            round.withLock {
                $0 += 1
                return $0
            }
        }
        /// All fifty events of some round after the first.
        var hasWholeRound: Bool {
            numbers.withLock { numbers in
                Dictionary(grouping: numbers) { $0 }.contains { $0.key > 1 && $0.value.count == 50 }
            }
        }
    }

    @Test("a relay that follows fifty is refused none, and they take memory by what they publish") func fifty()
        async throws
    {
        try await follow { service, received, notices in
            let streams = service.core.interfaces.map(\.stream)
            #expect(streams.count == 50)
            #expect(await eventually { streams.allSatisfy { $0.withRing { $0.readers.count } == 1 } })
            #expect(streams.allSatisfy { $0.withRing { $0.requests.refused } == 0 })
            #expect(notices.all.isEmpty)
            let before = try streams.map { try allocated($0) }
            #expect(before.allSatisfy { $0 <= RingSupply.step + 2 * Int(getpagesize()) })
            for number: Int64 in 1...3 { try ManyInterfaces.publish(service, number) }
            #expect(await eventually { received.count == 150 })
            #expect(try streams.map { try allocated($0) } == before)
        }
    }
    @Test("without memory for a ring its readers get the events as signals, and the others go on")
    func exhausted() async throws {
        try await follow { service, received, _ in
            let streams = service.core.interfaces.map(\.stream)
            #expect(await eventually { streams.allSatisfy { $0.withRing { $0.readers.count } == 1 } })
            try ManyInterfaces.publish(service, 1)
            #expect(await eventually { received.count == 50 })
            let stream = streams[7]
            let ring = try #require(stream.withRing { $0.writer })
            service.core.loop.withTurn { stream.giveUpRing(ring, SystemError(ENOMEM)) }
            #expect(!stream.hasRing)
            // It asks again, and is refused while there is no memory. What it missed meanwhile is a gap.
            #expect(await eventually { stream.withRing { $0.requests.refused } > 0 })
            #expect(
                await eventually {
                    try? ManyInterfaces.publish(service, received.nextRound())
                    return received.hasWholeRound
                })
            // The others go on as before.
            #expect(streams.count { $0.hasRing } == 49)
            #expect(stream.withRing { $0.figures(at: 100).carried } == 1)
        }
    }
    private func allocated(_ stream: PublishedStream) throws -> Int {
        let ring = try #require(stream.withRing { $0.writer })
        var status = stat()
        try #require(fstat(ring.descriptor, &status) == 0)
        return Int(status.st_blocks) * 512
    }
}
