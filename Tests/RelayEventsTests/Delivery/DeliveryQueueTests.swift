import TestTraits
import Testing

@testable import RelayEvents

/// What a queue should do, without any care for memory: every event keeps its place, lost or not.
private struct NaiveQueue {
    enum Item { case event(UInt64), lost(ClosedRange<UInt64>, Int, Gap.Reason) }
    var items: [Item] = []
    var isClosed = false
    var missed = 0
    let buffer: EventBuffer
    init(_ buffer: EventBuffer) { self.buffer = buffer }

    mutating func push(_ sequence: UInt64) {
        if isClosed { return }
        let held = items.indices.filter { if case .event = items[$0] { true } else { false } }
        if held.count < buffer.limit { return items.append(.event(sequence)) }
        missed += 1
        switch buffer.overflow {
        case .dropOldest:
            if case .event(let oldest) = items[held[0]] { items[held[0]] = .lost(oldest...oldest, 1, .overflow) }
            items.append(.event(sequence))
        case .dropNewest, .end:
            items.append(.lost(sequence...sequence, 1, .overflow))
            isClosed = buffer.overflow == .end
        }
    }
    mutating func pushGap(_ sequences: ClosedRange<UInt64>) {
        if isClosed { return }
        missed += sequences.count
        items.append(.lost(sequences, sequences.count, .lost))
    }
    /// The first event, or all that is lost before it for the reason of the first loss.
    mutating func pop() -> String? {
        guard let first = items.first else { return nil }
        guard case .lost(var range, var count, let reason) = first else {
            items.removeFirst()
            if case .event(let sequence) = first { return "\(sequence)" }
            return nil
        }
        items.removeFirst()
        var index = 0
        while index < items.count, case .lost(let next, let more, let nextReason) = items[index] {
            if nextReason == reason {
                (range, count) = (range.lowerBound...next.upperBound, count + more)
                items.remove(at: index)
            } else {
                index += 1
            }
        }
        return "gap \(range) (\(count), \(reason.rawValue))"
    }
}

extension EventQueue {
    fileprivate mutating func popText() -> String? {
        switch pop() {
        case .event(_, let stamp)?: "\(stamp.sequence)"
        case .gap(let gap)?: text(gap)
        case nil: nil
        }
    }
}

@Suite("The queue of a subscription", .computing, .tags(.g3)) struct DeliveryQueueTests {
    static let buffers = (1...3).flatMap { limit -> [EventBuffer] in
        [.bufferingNewest(limit), .bufferingOldest(limit), .ending(after: limit)]
    }

    @Test("every short sequence of pushes, gaps and pops gives what a naive queue gives", arguments: buffers)
    func matchesNaiveQueue(_ buffer: EventBuffer) {
        enum Step: Int { case event, gap, pop }
        let length = 8
        let box = EventBox(Numbered(number: 0))
        var code = 0
        let codes = (0..<length).reduce(1) { count, _ in count * 3 }
        while code < codes {
            defer { code += 1 }
            var (queue, naive) = (EventQueue(buffer), NaiveQueue(buffer))
            var (rest, sequence, steps): (Int, UInt64, [Step]) = (code, 0, [])
            var isEqual = true
            for _ in 0..<length {
                let step = Step(rawValue: rest % 3) ?? .pop
                rest /= 3
                steps.append(step)
                switch step {
                case .event:
                    sequence += 1
                    _ = queue.push(box, stamp(sequence))
                    naive.push(sequence)
                case .gap:
                    let lost = sequence + 1...sequence + 2
                    sequence += 2
                    _ = queue.push(Gap(lost, epoch: 1, count: 2, reason: .lost))
                    naive.pushGap(lost)
                case .pop: isEqual = isEqual && queue.popText() == naive.pop()
                }
            }
            while let expected = naive.pop() { isEqual = isEqual && queue.popText() == expected }
            isEqual = isEqual && queue.isEmpty && queue.popText() == nil
            isEqual = isEqual && queue.missed == naive.missed && queue.isClosed == naive.isClosed
            if !isEqual {
                Issue.record("differs after \(steps)")
                return
            }
        }
    }

    @Test("a flood of gaps and events takes no more entries than twice the limit", arguments: buffers)
    func isBounded(_ buffer: EventBuffer) {
        var queue = EventQueue(buffer)
        let box = EventBox(Numbered(number: 0))
        var sequence: UInt64 = 0
        for epoch in 1...200 as ClosedRange<UInt64> {
            for _ in 0..<20 {
                sequence += 2
                _ = queue.push(box, stamp(sequence, epoch: epoch))
                _ = queue.push(Gap(sequence...sequence, epoch: epoch, count: nil, reason: .lost))
                #expect(queue.entryCount <= 2 * buffer.limit + 1)
            }
        }
        var items = 0
        while queue.pop() != nil { items += 1 }
        #expect(items <= (buffer.limit + 1) * CoalescedGaps.limit + buffer.limit)
    }

    @Test(
        "a backlog makes few gaps, each in its place, whatever the pace",
        arguments: [2, 3, 10, 100], [64, 1_024])
    func fewGaps(pace: Int, limit: Int) {
        var queue = EventQueue(.bufferingNewest(limit))
        let box = EventBox(Numbered(number: 0))
        var (position, gaps, missed): (UInt64, Int, Int) = (0, 0, 0)
        func take() {
            switch queue.pop() {
            case .event(_, let stamp)?:
                #expect(stamp.sequence == position + 1)
                position = stamp.sequence
            case .gap(let gap)?:
                #expect(gap.sequences.lowerBound == position + 1 && gap.count == gap.sequences.count)
                #expect(gap.reason == .overflow)
                position = gap.sequences.upperBound
                (gaps, missed) = (gaps + 1, missed + gap.sequences.count)
            case nil: Issue.record("nothing after \(position)")
            }
        }
        let published: UInt64 = 20_000
        for sequence in 1...published {
            _ = queue.push(box, stamp(sequence))
            if Int(sequence) % pace == 0 { take() }
        }
        while !queue.isEmpty { take() }
        #expect(position == published && queue.missed == missed)
        // The first may be of a single event, all others of half a buffer.
        #expect(missed > 0 && gaps <= 1 + missed / (limit / 2), "\(gaps) gaps for \(missed) events")
    }
    @Test(
        "a backlog that drops the newest makes few gaps, each in its place, whatever the pace",
        arguments: [2, 3, 10, 100], [1, 2, 5, 64, 1_024])
    func fewGapsBehind(pace: Int, limit: Int) {
        var queue = EventQueue(.bufferingOldest(limit))
        let box = EventBox(Numbered(number: 0))
        var (position, missed): (UInt64, Int) = (0, 0)
        /// How many events came before the first gap, between two, and behind the last.
        var runs = [0]
        func take() {
            switch queue.pop() {
            case .event(_, let stamp)?:
                #expect(stamp.sequence == position + 1)
                position = stamp.sequence
                runs[runs.count - 1] += 1
            case .gap(let gap)?:
                #expect(gap.sequences.lowerBound == position + 1 && gap.count == gap.sequences.count)
                #expect(gap.reason == .overflow)
                position = gap.sequences.upperBound
                missed += gap.sequences.count
                runs.append(0)
            case nil: Issue.record("nothing after \(position)")
            }
        }
        let published: UInt64 = 20_000
        for sequence in 1...published {
            _ = queue.push(box, stamp(sequence))
            if Int(sequence) % pace == 0 { take() }
        }
        while !queue.isEmpty { take() }
        #expect(position == published && queue.missed == missed)
        #expect(runs.count > 1 && runs[0] >= limit, "\(runs)")
        #expect(runs.dropFirst().dropLast().allSatisfy { $0 >= max(1, limit / 2) }, "\(runs)")
    }
    @Test(
        "what nobody takes makes one gap, however much it is; what was taken between two losses makes two",
        arguments: [EventBuffer.bufferingNewest(4), .bufferingOldest(4)])
    func oneGapForABacklog(_ buffer: EventBuffer) {
        var queue = EventQueue(buffer)
        let box = EventBox(Numbered(number: 0))
        func popAll() -> [EventQueue.Item] {
            var items: [EventQueue.Item] = []
            while let item = queue.pop() { items.append(item) }
            return items
        }
        func gaps(_ items: [EventQueue.Item]) -> [ClosedRange<UInt64>] {
            items.compactMap { if case .gap(let gap) = $0 { gap.sequences } else { nil } }
        }
        for sequence in 1...100_000 as ClosedRange<UInt64> { _ = queue.push(box, stamp(sequence)) }
        let backlog = popAll()
        #expect(backlog.count == 5 && gaps(backlog).count == 1 && gaps(backlog)[0].count == 99_996)
        // Full once more; then one event is taken, and more are lost before and behind it.
        for sequence in 100_001...100_005 as ClosedRange<UInt64> { _ = queue.push(box, stamp(sequence)) }
        var items = (0..<3).compactMap { _ in queue.pop() }
        for sequence in 100_006...100_020 as ClosedRange<UInt64> { _ = queue.push(box, stamp(sequence)) }
        items += popAll()
        let missing = gaps(items)
        let received = items.compactMap { if case .event(_, let stamp) = $0 { stamp.sequence } else { nil } }
        // One gap would claim what was received.
        if buffer == .bufferingNewest(4) {
            #expect(missing == [100_001...100_001, 100_004...100_017])
            #expect(received == [100_002, 100_003, 100_018, 100_019, 100_020])
        } else {
            #expect(missing == [100_005...100_005, 100_009...100_020])
            #expect(received == [100_001, 100_002, 100_003, 100_004, 100_006, 100_007, 100_008])
        }
    }
    @Test("who catches up keeps the whole buffer again") func catchesUp() {
        var queue = EventQueue(.bufferingNewest(4))
        let box = EventBox(Numbered(number: 0))
        func push(_ sequences: ClosedRange<UInt64>) {
            for sequence in sequences { _ = queue.push(box, stamp(sequence)) }
        }
        func popAll() -> [String] {
            var texts: [String] = []
            while let text = queue.popText() { texts.append(text) }
            return texts
        }
        push(1...5)
        #expect(queue.popText() == "gap 1...1 (1, overflow)" && queue.popText() == "2")
        push(6...7)
        #expect(popAll() == ["gap 3...4 (2, overflow)", "5", "6", "7"])
        push(8...12)
        #expect(popAll() == ["gap 8...8 (1, overflow)", "9", "10", "11", "12"])
    }

    @Test(
        "what is fixed keeps its place, counts for no event, and is not dropped; among what was lost it comes behind it"
    )
    func fixed() {
        func items(_ buffer: EventBuffer) -> [String] {
            var queue = DeliveryQueue<Int, String>(buffer)
            queue.push("first page")
            _ = queue.push(1, stamp(1))
            queue.push("mark")
            for number in 2...4 { _ = queue.push(number, stamp(UInt64(number))) }
            queue.push("second page")
            #expect(queue.eventCount == 2)
            var items: [String] = []
            while let item = queue.pop() {
                switch item {
                case .event(let number, _): items.append("\(number)")
                case .gap(let gap): items.append(text(gap))
                case .fixed(let fixed): items.append(fixed)
                }
            }
            #expect(queue.isEmpty)
            return items
        }
        #expect(
            items(.bufferingNewest(2)) == ["first page", "gap 1...2 (2, overflow)", "mark", "3", "4", "second page"])
        #expect(
            items(.bufferingOldest(2)) == ["first page", "1", "mark", "2", "gap 3...4 (2, overflow)", "second page"])
    }
    @Test("an event that was allowed to come is taken although there is no room") func unbounded() {
        var queue = DeliveryQueue<Int, Never>(.bufferingNewest(1))
        for number in 1...3 { _ = queue.push(number, stamp(UInt64(number)), isBounded: false) }
        #expect(queue.eventCount == 3 && queue.missed == 0)
    }

    @Test("an event that is dropped is handed out, to be released outside the lock")
    func handsDroppedEventsOut() {
        var queue = EventQueue(.bufferingNewest(1))
        let first = EventBox(Numbered(number: 1))
        #expect(queue.push(first, stamp(1)).dropped == nil)
        #expect(queue.push(EventBox(Numbered(number: 2)), stamp(2)).dropped === first)

        var behind = EventQueue(.bufferingNewest(4))
        let boxes = (1...6).map { EventBox(Numbered(number: $0)) }
        for (index, box) in boxes[..<5].enumerated() { _ = behind.push(box, stamp(UInt64(index + 1))) }
        _ = behind.pop()
        let change = behind.push(boxes[5], stamp(6))
        #expect(change.dropped === boxes[1] && change.alsoDropped.map { $0 === boxes[2] } == [true])
        #expect(change.orphaned == 2)
    }
}
