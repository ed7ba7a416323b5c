import Dispatch
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayEvents

@Suite("Handlers that block", .heavy, .tags(.g4)) struct BlockingHandlerTests {
    private final class Counts: Sendable {
        let entered = Atomic<Int>(0)
        let passed = Atomic<Int>(0)
        let gate = DispatchSemaphore(value: 0)
    }

    @Test("in the background delay their own subscription, no other one, and no task of the cooperative pool")
    func background() async {
        let (publisher, counts, blocking) = (EventPublisher(), Counts(), 32)
        let blocked = (0..<blocking).map { _ in
            publisher.subscribe(to: Numbered.self, delivery: .background) { _ in
                counts.entered.add(1, ordering: .relaxed)
                counts.gate.wait()
            } onGap: { _ in
            }
        }
        let other = publisher.subscribe(to: Numbered.self, delivery: .background) { _ in
            counts.passed.add(1, ordering: .relaxed)
        } onGap: { _ in
        }
        for number in 1...10 { publisher.publish(Numbered(number: number)) }
        #expect(await eventually { counts.entered.load(ordering: .relaxed) == blocking })
        #expect(await eventually { counts.passed.load(ordering: .relaxed) == 10 })
        #expect(await Task.detached { counts.entered.load(ordering: .relaxed) }.value == blocking)
        for _ in 0..<blocking * 10 { counts.gate.signal() }
        #expect(await eventually { counts.entered.load(ordering: .relaxed) == blocking * 10 })
        withExtendedLifetime((blocked, other)) {}
    }
}
