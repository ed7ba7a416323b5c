import RelayTestKit
import TestTraits
import Testing

@testable import RelayEvents

@Suite("Gaps in words", .tags(.g2)) struct GapDescriptionTests {
    private static func gap(
        _ sequences: ClosedRange<UInt64>, _ count: Int?, _ reason: Gap.Reason, epoch: UInt64 = 7, detail: String? = nil
    ) -> Gap { Gap(sequences, epoch: epoch, count: count, reason: reason, detail: detail) }

    @Test(
        "a gap is a sentence",
        arguments: [
            (gap(5...5, 1, .overflow), "1 event is missing, sequence 5: the subscription's buffer was full."),
            (gap(5...9, 3, .lost), "3 events are missing, sequences 5 to 9: they were lost on the way."),
            (gap(5...9, 1, .overflow), "1 event is missing, sequences 5 to 9: the subscription's buffer was full."),
            (gap(1...4, nil, .expired), "Events may be missing, sequences 1 to 4: the journal no longer has them."),
            (
                gap(5...(.max), nil, .epochChanged),
                "Events may be missing from sequence 5 on: the service's run has ended."
            ),
            (
                gap(1...(.max), nil, .epochChanged, epoch: 0),
                "Any number of events may be missing: the service's run has ended."
            ),
            (
                gap(2...4, 3, .schemaMismatch, detail: "Sold, field 'price'"),
                "3 events are missing, sequences 2 to 4: this program cannot read them (Sold, field 'price')."
            ),
            (
                gap(9...(.max), nil, .historyReplaced, detail: "its history is the same up to #8"),
                "Events may be missing from sequence 9 on: the journal was replaced (its history is the same up to #8)."
            ),
            (gap(2...2, 1, .init(rawValue: "eaten")), "1 event is missing, sequence 2: eaten."),
        ])
    func description(_ gap: Gap, _ expected: String) {
        #expect("\(gap)" == expected)
    }
    @Test("only a gap whose end nobody knows is open-ended") func openEnded() {
        #expect(Self.gap(5...(.max), nil, .epochChanged).isOpenEnded)
        #expect(!Self.gap(5...(.max - 1), nil, .epochChanged).isOpenEnded)
    }
    @Test("a subscription that ignores gaps counts what it missed")
    func ignored() async throws {
        final class Object: Sendable {}
        let target = try PollableTarget()
        let publisher = EventPublisher(delivery: .pollable(target))
        let log = Log<Int>()
        let object = Object()
        let closure = publisher.subscribe(to: Numbered.self, buffer: .bufferingNewest(1)) {
            log.add($0.number)
        } onGap: { _ in
        }
        let placed = publisher.subscribe(
            to: Numbered.self, delivery: .pollable(target), buffer: .bufferingNewest(1)
        ) {
            log.add($0.number * 10)
        } onGap: { _ in
        }
        publisher.subscribe(object, to: Numbered.self, buffer: .bufferingNewest(1)) { _, event in
            log.add(event.number * 100)
        } onGap: { _, _ in
        }
        for number in 1...3 { publisher.publish(Numbered(number: number)) }
        #expect(
            await eventually {
                target.drain()
                return Set(log.values) == [3, 30, 300]
            })
        #expect(closure.missed == 2 && placed.missed == 2)
    }
}
