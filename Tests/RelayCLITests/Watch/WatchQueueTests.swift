import RelayCore
import TestTraits
import Testing

@testable import relay_cli
import RelayWire

@Suite("Between the bus and a slow terminal", .tags(.g3))
struct WatchQueueTests {
    private func event(_ sequence: UInt64, interface: String = "a.b", bytes: Int = 0) -> WatchInput {
        .event(
            Envelope(
                interface: interface, name: "E", signature: "ttt", body: [UInt8](repeating: 0, count: bytes),
                stamp: Samples.stamp(sequence, previous: 0, at: 0)))
    }
    private func gap(_ range: ClosedRange<UInt64>, _ count: Int?, interface: String = "a.b") -> WatchInput {
        .gap(interface: interface, Gap(range, epoch: 1, count: count, reason: .overflow))
    }

    @Test("below the bound, all comes out in its order")
    func order() {
        var inputs = BoundedInputs(limit: 10, bytes: 1_000)
        let all = [.state(.active), event(1), gap(2...3, 2), event(4), .state(.interrupted)]
        for input in all { inputs.append(input) }
        #expect(!inputs.isEmpty)
        #expect(inputs.takeAll() == all)
        #expect(inputs.isEmpty && inputs.takeAll().isEmpty)
    }

    @Test("past the bound, the rest is one gap of an interface, counted, behind what came before")
    func overflow() {
        var inputs = BoundedInputs(limit: 3, bytes: 1_000)
        for sequence: UInt64 in 1...7 { inputs.append(event(sequence)) }
        inputs.append(event(100, interface: "a.c"))
        inputs.append(.gap(interface: "a.b", Gap(8...9, epoch: 1, count: 1, reason: .lost)))
        #expect(
            inputs.takeAll() == [event(1), event(2), event(3), gap(4...9, 5), gap(100...100, 1, interface: "a.c")])
        inputs.append(event(10))
        #expect(inputs.takeAll() == [event(10)])
    }

    @Test("runs of a service that was restarted meanwhile are gaps apart; their number is bounded")
    func epochs() {
        func event(_ epoch: UInt64, _ sequence: UInt64) -> WatchInput {
            .event(
                Envelope(
                    interface: "a.b", name: "E", signature: "ttt", body: [],
                    stamp: Samples.stamp(sequence, epoch: epoch)))
        }
        var inputs = BoundedInputs(limit: 0, bytes: 0)
        for input in [event(7, 50), event(7, 51), event(8, 1), event(8, 2)] { inputs.append(input) }
        #expect(
            inputs.takeAll() == [
                .gap(interface: "a.b", Gap(50...51, epoch: 7, count: 2, reason: .overflow)),
                .gap(interface: "a.b", Gap(1...2, epoch: 8, count: 2, reason: .overflow)),
            ])
        for epoch: UInt64 in 1...1_000 { inputs.append(event(epoch, 1)) }
        let gaps = inputs.takeAll()
        #expect(gaps.count == 64)
        let oldest = Gap(1...1, epoch: 937, count: 937, reason: .overflow)
        #expect(Array(gaps.prefix(1)) == [.gap(interface: "a.b", oldest)])
    }

    @Test("a gap of unknown count leaves the sum unknown")
    func unknownCount() {
        var inputs = BoundedInputs(limit: 1, bytes: 1_000)
        for input in [
            event(1), event(2), .gap(interface: "a.b", Gap(3...9, epoch: 1, count: nil, reason: .lost)), event(10),
        ] {
            inputs.append(input)
        }
        #expect(inputs.takeAll() == [event(1), gap(2...10, nil)])
    }

    @Test("bytes are bounded too, and once something is missing nothing slips in after it")
    func bytes() {
        var inputs = BoundedInputs(limit: 100, bytes: 100)
        inputs.append(event(1, bytes: 60))
        inputs.append(event(2, bytes: 60))
        inputs.append(event(3, bytes: 1))
        inputs.append(event(4, bytes: 0))
        #expect(inputs.takeAll() == [event(1, bytes: 60), event(2, bytes: 60), gap(3...4, 2)])
        inputs.append(event(5, bytes: 60))
        #expect(inputs.takeAll() == [event(5, bytes: 60)])
    }

    @Test("the last state is never lost, however many come while nobody looks")
    func states() {
        var inputs = BoundedInputs(limit: 1, bytes: 1_000)
        inputs.append(event(1))
        for _ in 0..<10_000 {
            inputs.append(.state(.interrupted))
            inputs.append(.state(.active))
        }
        #expect(inputs.takeAll() == [event(1), .state(.active)])
    }

    @Test("numbers at their ends do not trap")
    func extremes() {
        var inputs = BoundedInputs(limit: 0, bytes: 0)
        inputs.append(.gap(interface: "a.b", Gap(0...UInt64.max, epoch: 1, count: Int.max, reason: .lost)))
        inputs.append(.gap(interface: "a.b", Gap(5...5, epoch: 1, count: Int.max, reason: .lost)))
        #expect(inputs.takeAll() == [gap(0...UInt64.max, Int.max)])
    }

    @Test("the wake-up descriptor is readable when there is something")
    func wakeup() throws {
        let wakeup = try Wakeup()
        let queue = WatchQueue(wakeup: wakeup)
        #expect(!isReadable(wakeup.descriptor))
        queue.append(event(1))
        #expect(isReadable(wakeup.descriptor))
        wakeup.clear()
        #expect(!isReadable(wakeup.descriptor))
        #expect(queue.takeAll() == [event(1)])
        queue.post(.following)
        #expect(isReadable(wakeup.descriptor))
        #expect(queue.takeAnswers().count == 1)
        #expect(queue.takeAnswers().isEmpty)
    }
}
