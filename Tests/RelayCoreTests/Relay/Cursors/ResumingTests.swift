import Glibc
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore

/// Named subscribers, which go on where they stopped.
@Suite("Named subscriptions that resume", .heavy, .tags(.g2, .g6)) struct ResumingTests {
    private static func publish(_ numbers: ClosedRange<Int64>, _ desk: DurableDesk) async throws {
        try await desk.service.publish(contentsOf: numbers.map { Booked(number: $0, text: "") })
    }

    @Test("a subscriber goes on behind what it handled, over its own and the service's restarts") func resume()
        async throws
    {
        var desk = try await DurableDesk()
        let folder = try TestFolder()
        let handled = Log<Int64>()
        var next: Int64 = 1
        for _ in 0..<3 {
            try await Self.publish(next...next + 4, desk)
            next += 5
            let relay = try PositionedTests.relay(desk.bus, cursors: folder.path)
            let subscription = try relay.subscribe(to: Booked.self, from: .resuming("box")) {
                handled.add($0.number)
            } onGap: { _ in
            }
            relay.activate()
            #expect(await eventually { handled.count == Int(next) - 1 })
            subscription.cancel()
            relay.invalidate()
            desk = try await desk.restarted()
        }
        // Nothing twice: it was ended in good order, but for the one whose handler had not quite returned.
        let values = handled.values
        #expect(Set(values) == Set(1..<next) && values.count <= Int(next) + 1)
        try await desk.stop()
    }
    @Test("a stream's event counts as handled when the next is asked for") func stream() async throws {
        let desk = try await DurableDesk()
        let folder = try TestFolder()
        try await Self.publish(1...5, desk)
        for expected in [[Int64(1), 2, 3], [3, 4], [4, 5]] {
            let relay = try PositionedTests.relay(desk.bus, cursors: folder.path)
            let stream = try relay.events(in: Ledger1.self, from: .resuming("box"))
            relay.activate()
            var numbers: [Int64] = []
            var iterator = stream.makeAsyncIterator()
            while numbers.count < expected.count, case .event(let event as Booked, _)? = await iterator.next() {
                numbers.append(event.number)
            }
            #expect(numbers == expected)
            stream.cancel()
        }
        try await desk.stop()
    }
    @Test("what was handled and not written before a crash comes again", arguments: CursorStep.allCases)
    func crash(_ last: CursorStep) async throws {
        let desk = try await DurableDesk()
        let folder = try TestFolder()
        try await Self.publish(1...3, desk)
        let isCrashed = Atomic<Bool>(false)
        do {
            // From the step on, nothing that the process does reaches the disk.
            let faults = CursorFaults { step, _ throws(RelayError) in
                if step == last { isCrashed.store(true, ordering: .releasing) }
                if isCrashed.load(ordering: .acquiring) { throw RelayError(.unavailable, "crashed") }
            }
            let relay = try EventRelay(
                following: DurableDesk.name, on: desk.bus.bus, interfaces: Ledger1.self, cursors: folder.path,
                faults: faults)
            let (handled, failures) = (Log<Int64>(), Log<String>())
            let told = relay.publisher.subscribe(
                to: EventRelay.CursorFailure.self, delivery: .immediate
            ) {
                failures.add("\($0.name) \($0.error.message)")
            } onGap: { _ in
            }
            let subscription = try relay.subscribe(to: Booked.self, from: .resuming("box")) {
                handled.add($0.number)
            } onGap: { _ in
            }
            relay.activate()
            #expect(await eventually { handled.count == 3 && failures.count == 1 })
            #expect(failures.values == ["box crashed"], "it is told, and delivery goes on")
            try await Self.publish(4...4, desk)
            #expect(await eventually { handled.count == 4 })
            subscription.cancel()
            told.cancel()
            try await Self.publish(5...5, desk)
        }
        let relay = try PositionedTests.relay(desk.bus, cursors: folder.path)
        let handled = Log<Int64>()
        let subscription = try relay.subscribe(to: Booked.self, from: .resuming("box")) {
            handled.add($0.number)
        } onGap: { _ in
        }
        relay.activate()
        #expect(await eventually { handled.values.last == 5 })
        // At least once; from the beginning, or behind what the file or its synced copy has.
        let first = handled.values.first ?? 0
        #expect(handled.values == Array(first...5) && (last == .beforeWrite ? first == 1 : first <= 4))
        subscription.cancel()
        try await desk.stop()
    }
    @Test("two relays cannot resume one name at a time, and a refusal takes nothing") func twice() async throws {
        let desk = try await DurableDesk()
        let folder = try TestFolder()
        let (first, second) = (
            try PositionedTests.relay(desk.bus, cursors: folder.path),
            try PositionedTests.relay(desk.bus, cursors: folder.path)
        )
        let held = try first.events(of: Booked.self, from: .resuming("box"))
        for _ in 0..<2 {
            do {
                _ = try second.events(of: Booked.self, from: .resuming("box"))
                Issue.record("no error")
            } catch { #expect((error as? RelayError)?.code == .conflict) }
        }
        held.cancel()
        let taken = try second.events(of: Booked.self, from: .resuming("box"))
        taken.cancel()
        try await desk.stop()
    }
    @Test("a tool's cursor moves by what it acknowledges") func tool() async throws {
        let desk = try await DurableDesk()
        let folder = try TestFolder()
        try await Self.publish(1...5, desk)
        for (expected, acknowledged) in [(Array(UInt64(1)...5), UInt64(2)), (Array(3...5), 5)] {
            let follower = try ServiceFollower(
                service: DurableDesk.name, on: desk.bus.bus, cursors: folder.path
            ) { _ in }
            let stream = try follower.envelopes(of: Ledger1.name, from: .resuming("tool"))
            follower.activate()
            var sequences: [UInt64] = []
            #expect(
                await eventually {
                    while let delivery = stream.poll() {
                        guard case .event(_, let stamp) = delivery else { continue }
                        sequences.append(stamp.sequence)
                        if stamp.sequence <= acknowledged { stream.acknowledge(delivery) }
                    }
                    return sequences.count == expected.count
                })
            #expect(sequences == expected)
            let isKept = stream.cancel()
            #expect(isKept)
        }
        try await desk.stop()
    }
}
