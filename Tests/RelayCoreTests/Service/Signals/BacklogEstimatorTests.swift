import TestTraits
import Testing

@testable import RelayCore

@Suite("The estimate of the bus's backlog", .tags(.g3)) struct BacklogEstimatorTests {
    private static let mebibyte = 1 << 20

    /// A meter, and the bus that it is about: what is checked is said of the bus.
    private struct World: Explorable {
        enum Step: CaseIterable { case signals, head, subscribersTake, questionArrives, answerArrives, timeout, look }

        var meter = BacklogEstimator()
        var now: UInt64 = 1_000_000_000
        /// On its way to the bus, in order: bytes, and questions as nil.
        var underWay: [Int?] = []
        var held = 0
        /// What the bus has said, and we have not heard.
        var answer: Int?
        var isAsked = false

        mutating func take(_ step: Step) {
            now += 300_000_000
            switch step {
            case .signals:
                let isSent = meter.admits(14 << 20, messages: 256, now: now)
                if isSent == meter.isHigh { Issue.record("sent while it is high, or refused while it is not") }
                if isSent { underWay.append(14 << 20) }
                ask(meter.isDue)
            case .head:
                if meter.admitsHead(10 << 20, messages: 1) { underWay.append(10 << 20) }
            case .subscribersTake: held = 0
            case .questionArrives:
                guard let index = underWay.firstIndex(of: nil) else { return }
                held += underWay[..<index].reduce(0) { $0 + ($1 ?? 0) }
                underWay.removeFirst(index + 1)
                answer = held
            case .answerArrives:
                guard let answer else { return }
                (self.answer, isAsked) = (nil, false)
                meter.answered(answer, now: now)
            case .timeout:
                // The answer may still come, and is then nobody's.
                guard isAsked else { return }
                (answer, isAsked) = (nil, false)
                underWay.removeAll { $0 == nil }
                meter.unanswered()
            case .look: ask(meter.isDue(at: now))
            }
            if ahead > meter.marks.limit { Issue.record("\(ahead) bytes: more than a bus is ever to hold") }
        }
        private mutating func ask(_ isDue: Bool) {
            guard isDue else { return }
            if isAsked { Issue.record("two questions at a time") }
            meter.asked(now)
            isAsked = true
            underWay.append(nil)
        }
        var ahead: Int { held + underWay.reduce(0) { $0 + ($1 ?? 0) } }

        /// From anywhere: subscribers that read, and a bus that answers, end it.
        func checkEnd() {
            var world = self
            for _ in 0..<24 where world.meter.isHigh {
                for step in [.look, .questionArrives, .subscribersTake, .answerArrives] as [Step] { world.take(step) }
            }
            if world.meter.isHigh { Issue.record("does not end: \(world)") }
        }
    }

    @Test("whatever the bus and its subscribers do, no more is ahead than the limit; it ends when they read") func all()
    {
        #expect(World().explore(depth: 6) == 137_257)
    }
    /// Sends until it is refused; the bytes that went.
    private func fill(_ meter: inout BacklogEstimator, by bytes: Int = mebibyte, messages: Int = 1) -> Int {
        var sent = 0
        while meter.admits(bytes, messages: messages, now: 0) { sent += bytes }
        return sent
    }
    @Test("unasked it takes as much as may ever be ahead; an answer makes room for what was taken") func filling() {
        var meter = BacklogEstimator()
        #expect(fill(&meter) == 32 * Self.mebibyte && meter.isHigh)
        meter.asked(0)
        meter.answered(9 * Self.mebibyte, now: 1)
        #expect(meter.isHigh && fill(&meter) == 0, "low is below 8 MiB")
        meter.asked(0)
        meter.answered(7 * Self.mebibyte, now: 2)
        #expect(!meter.isHigh && fill(&meter) == 25 * Self.mebibyte)
    }
    @Test("what is sent between question and answer counts on top of the answer") func between() {
        var meter = BacklogEstimator()
        _ = meter.admits(5 * Self.mebibyte, messages: 1, now: 0)
        #expect(meter.isDue)
        meter.asked(0)
        _ = meter.admits(20 * Self.mebibyte, messages: 1, now: 0)
        #expect(!meter.isDue)
        meter.answered(5 * Self.mebibyte, now: 0)
        #expect(meter.isDue && fill(&meter) == 7 * Self.mebibyte)
    }
    @Test("a bus that answers no sooner than a second and 256 signals later is behind, however few bytes it holds")
    func late() {
        let second: UInt64 = 1_000_000_000
        var meter = BacklogEstimator()
        meter.asked(0)
        func send(_ count: Int, at now: UInt64) -> Int {
            (0..<count).count { _ in meter.admits(100, messages: 1, now: now) }
        }
        #expect(send(255, at: 9 * second) == 255, "few signals are no sign")
        #expect(send(1_000, at: second - 1) == 1_000, "nor is a short time")
        #expect(send(1, at: second) == 0 && meter.isHigh)
        #expect(!meter.isDue(at: .max), "the question still waits")
        #expect(meter.takeChange(11 * second) == .lasts(bytes: 125_500, isLate: true))
        meter.answered(0, now: 12 * second)
        #expect(!meter.isHigh && meter.takeChange(12 * second) == .isOver)
        #expect(meter.isDue, "so many were sent since that question")
        meter.asked(12 * second)
        meter.answered(0, now: 12 * second)
        #expect(send(256, at: 99 * second) == 256 && !meter.isDue)
        #expect(send(1, at: 99 * second) == 1 && meter.isDue)
    }
    @Test("one that costs more than may ever be ahead is never sent, whoever is asked") func tooMuch() {
        var meter = BacklogEstimator()
        #expect(fill(&meter, by: 33 * Self.mebibyte, messages: 33) == 0)
    }
    @Test("a broker's marks are parts of its room, and each message costs it more than its bytes") func broker() {
        var meter = BacklogEstimator()
        meter.refused()
        #expect(meter.source == .users)
        meter.asked(0)
        meter.answered(0, room: 512 << 20, now: 0)
        #expect(meter.marks == BacklogEstimator.told)
        meter.asked(0)
        meter.answered(0, room: 64 << 20, now: 0)
        #expect(meter.marks == BacklogEstimator.Marks(low: 2 << 20, high: 8 << 20, limit: 12 << 20))
        let sent = fill(&meter, by: 100) / 100
        #expect(sent == (8 << 20) / 1_636)
    }
    @Test("where nobody tells, what waits in libdbus does, at lower marks") func queue() {
        var meter = BacklogEstimator()
        meter.asked(0)
        meter.refused()
        meter.asked(0)
        meter.refused()
        #expect(meter.source == .queue && meter.marks == BacklogEstimator.queued && !meter.isDue)
        #expect(fill(&meter) == 16 * Self.mebibyte && meter.isDue && meter.isDue(at: 0))
        meter.looked(3 << 20)
        #expect(meter.isHigh)
        meter.looked(1 << 20)
        #expect(!meter.isHigh && fill(&meter) == 15 * Self.mebibyte)
    }
    @Test("it is looked at every 100 ms, and when it lasts every second") func pace() {
        var meter = BacklogEstimator()
        #expect(meter.pace(0) == .milliseconds(100) && !meter.isDue(at: .max))
        while meter.admits(Self.mebibyte, messages: 1, now: 7) {}
        #expect(meter.pace(8) == .milliseconds(100) && meter.isDue(at: 8))
        meter.asked(0)
        #expect(!meter.isDue(at: .max), "one question at a time")
        meter.answered(32 << 20, now: 8)
        #expect(!meter.isDue(at: 80_000_008) && meter.isDue(at: 90_000_008))
        let late: UInt64 = 20_000_000_000
        #expect(meter.pace(late) == .seconds(1))
        meter.asked(0)
        meter.answered(32 << 20, now: late)
        #expect(!meter.isDue(at: late + 800_000_000) && meter.isDue(at: late + 900_000_000))
    }
    @Test("what has been high for 10 s is reported once, and so is its end") func lasting() {
        var meter = BacklogEstimator()
        meter.asked(0)
        meter.answered(33 << 20, now: 0)
        let isAdmitted = meter.admits(1, messages: 1, now: 5)
        #expect(!isAdmitted)
        let times: [UInt64] = [9_999_999_999, 10_000_000_005, 20_000_000_000]
        let changes = times.map { meter.takeChange($0) }
        #expect(changes == [nil, .lasts(bytes: 33 << 20, isLate: false), nil])
        meter.asked(0)
        meter.answered(0, now: 21_000_000_000)
        let later = [21_000_000_000, 22_000_000_000].map { meter.takeChange($0) }
        #expect(later == [.isOver, nil])
        // The next pause is one of its own.
        while meter.admits(Self.mebibyte, messages: 1, now: 30_000_000_000) {}
        let again = [39_000_000_000, 40_000_000_000, 41_000_000_000].map { meter.takeChange($0) }
        #expect(again[0] == nil && again[1] != nil && again[2] == nil)
    }
}
