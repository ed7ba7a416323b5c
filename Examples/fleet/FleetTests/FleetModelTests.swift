import Glibc
import RelayCore
import Testing

@testable import FleetViews

@Suite("The fleet's model and its screen") struct FleetModelTests {
    /// Twenty seconds of ten units: the dashboard stood still once, unit 3 was killed and came back, unit 9 is away.
    private static func model() -> (model: FleetModel, now: Timestamp) {
        var model = FleetModel(0..<10)
        var next = [UInt64](repeating: 1, count: 10)
        func time(_ seconds: Double) -> Timestamp {
            Timestamp(microseconds: 1_700_000_000_000_000 + UInt64(seconds * 1_000_000))
        }
        for unit in 0..<10 { model.take(unit, .active) }
        model.tick(now: time(0))
        for second in 1...20 {
            let published = time(Double(second) - 0.5)
            for unit in 0..<10 where !(unit == 3 && (9...12).contains(second)) && !(unit == 9 && second > 17) {
                for _ in 0..<80 + 10 * ((second + unit) % 3) {
                    let sequence = next[unit]
                    next[unit] += 1
                    let delay = unit % 2 == 0 ? 24 + sequence % 9 * 4 : 130 + sequence % 9 * 40
                    _ = model.add(
                        unit,
                        Stamp(
                            epoch: unit == 3 && second > 12 ? 2 : 1, sequence: sequence, previous: 0,
                            publishedAt: published), number: sequence,
                        celsius: 20 + Double(unit) + Double(sequence % 50) / 10,
                        now: Timestamp(microseconds: published.microseconds + delay))
                }
            }
            func kill(_ unit: Int) {
                let gap = Gap(next[unit]...UInt64.max, epoch: 1, count: nil, reason: .epochChanged)
                _ = model.add(unit, gap, now: published)
                model.take(unit, .interrupted)
                next[unit] = 1
            }
            switch second {
            case 5:
                let missing = next[5]...next[5] + 37
                _ = model.add(5, Gap(missing, epoch: 1, count: 38, reason: .overflow), now: published)
                next[5] += 38
            case 9: kill(3)
            case 12: model.take(3, .active)
            case 18: kill(9)
            default: break
            }
            for unit in 0..<10 { model.take(unit, transport: unit % 2 == 0 ? "ring" : "signal") }
            model.tick(now: time(Double(second)))
        }
        return (model, time(20.2))
    }
    private func screen(_ width: Int, height: Int = 40) -> String {
        let (model, now) = Self.model()
        return FleetView(width: width, height: height).lines(model, now: now).map { $0.text + "\n" }.joined()
    }

    @Test("the screen at 60, 80 and 120 columns") func screens() {
        #expect(
            screen(60) == """
                9 of 10 units are live, 810 samples a second, 5 by ring, 5
                by signals, 17,390 samples in all, >38 missing

                UNIT    STATE   BY     RATE/S    P99   SAMPLES MISSING
                Unit 0  live    ring      100  56 µs     1,810       -
                Unit 1  live    signal     80 448 µs     1,800       -
                Unit 2  live    ring       90  56 µs     1,790       -
                Unit 3  live    signal    100 448 µs     1,460      >0
                Unit 4  live    ring       80  56 µs     1,800       -
                Unit 5  live    signal     90 448 µs     1,790      38
                Unit 6  live    ring      100  56 µs     1,810       -
                Unit 7  live    signal     80 448 µs     1,800       -
                Unit 8  live    ring       90  56 µs     1,790       -
                Unit 9  away    signal      0 448 µs     1,540      >0

                2 s ago  Unit 9: Events may be missing from sequence 1541
                on: the service's run has ended.
                7 s ago  Unit 3: It is back, and counts from 1.
                11 s ago  Unit 3: Events may be missing from sequence 731
                on: the service's run has ended.
                15 s ago  Unit 5: 38 events are missing, sequences 441 to
                478: the subscription's buffer was full.

                """)
        #expect(
            screen(80) == """
                9 of 10 units are live, 810 samples a second, 5 by ring, 5 by signals, 17,390
                samples in all, >38 missing

                UNIT    STATE   BY     RATE/S    LAST    AGE    P50    P99   SAMPLES MISSING
                Unit 0  live    ring      100 21.0 °C    0 s  40 µs  56 µs     1,810       -
                Unit 1  live    signal     80 21.0 °C    0 s 288 µs 448 µs     1,800       -
                Unit 2  live    ring       90 26.0 °C    0 s  40 µs  56 µs     1,790       -
                Unit 3  live    signal    100 26.0 °C    0 s 288 µs 448 µs     1,460      >0
                Unit 4  live    ring       80 24.0 °C    0 s  40 µs  56 µs     1,800       -
                Unit 5  live    signal     90 27.8 °C    0 s 288 µs 448 µs     1,790      38
                Unit 6  live    ring      100 27.0 °C    0 s  40 µs  56 µs     1,810       -
                Unit 7  live    signal     80 27.0 °C    0 s 288 µs 448 µs     1,800       -
                Unit 8  live    ring       90 32.0 °C    0 s  40 µs  56 µs     1,790       -
                Unit 9  away    signal      0 33.0 °C    3 s 288 µs 448 µs     1,540      >0

                2 s ago  Unit 9: Events may be missing from sequence 1541 on: the service's run
                has ended.
                7 s ago  Unit 3: It is back, and counts from 1.
                11 s ago  Unit 3: Events may be missing from sequence 731 on: the service's run
                has ended.
                15 s ago  Unit 5: 38 events are missing, sequences 441 to 478: the
                subscription's buffer was full.

                """)
        #expect(
            screen(120) == """
                9 of 10 units are live, 810 samples a second, 5 by ring, 5 by signals, 17,390 samples in all, >38 missing

                UNIT    STATE   BY     RATE/S    LAST    AGE    P50    P99   SAMPLES MISSING
                Unit 0  live    ring      100 21.0 °C    0 s  40 µs  56 µs     1,810       -                        ▇█▆▇█▆▇█▆▇█▆▇█▆▇█▆▇█
                Unit 1  live    signal     80 21.0 °C    0 s 288 µs 448 µs     1,800       -                        █▆▇█▆▇█▆▇█▆▇█▆▇█▆▇█▆
                Unit 2  live    ring       90 26.0 °C    0 s  40 µs  56 µs     1,790       -                        ▆▇█▆▇█▆▇█▆▇█▆▇█▆▇█▆▇
                Unit 3  live    signal    100 26.0 °C    0 s 288 µs 448 µs     1,460      >0                        ▇█▆▇█▆▇█    ▇█▆▇█▆▇█
                Unit 4  live    ring       80 24.0 °C    0 s  40 µs  56 µs     1,800       -                        █▆▇█▆▇█▆▇█▆▇█▆▇█▆▇█▆
                Unit 5  live    signal     90 27.8 °C    0 s 288 µs 448 µs     1,790      38                        ▆▇█▆▇█▆▇█▆▇█▆▇█▆▇█▆▇
                Unit 6  live    ring      100 27.0 °C    0 s  40 µs  56 µs     1,810       -                        ▇█▆▇█▆▇█▆▇█▆▇█▆▇█▆▇█
                Unit 7  live    signal     80 27.0 °C    0 s 288 µs 448 µs     1,800       -                        █▆▇█▆▇█▆▇█▆▇█▆▇█▆▇█▆
                Unit 8  live    ring       90 32.0 °C    0 s  40 µs  56 µs     1,790       -                        ▆▇█▆▇█▆▇█▆▇█▆▇█▆▇█▆▇
                Unit 9  away    signal      0 33.0 °C    3 s 288 µs 448 µs     1,540      >0                        ▇█▆▇█▆▇█▆▇█▆▇█▆▇█

                2 s ago  Unit 9: Events may be missing from sequence 1541 on: the service's run has ended.
                7 s ago  Unit 3: It is back, and counts from 1.
                11 s ago  Unit 3: Events may be missing from sequence 731 on: the service's run has ended.
                15 s ago  Unit 5: 38 events are missing, sequences 441 to 478: the subscription's buffer was full.

                """)
    }
    @Test("README shows this screen") func readme() throws {
        let folder = #filePath.split(separator: "/").dropLast(2).map { "/" + $0 }.joined()
        let file = try #require(fopen(folder + "/README.md", "r"))
        defer { fclose(file) }
        var bytes: [UInt8] = []
        while case let byte = fgetc(file), byte != EOF { bytes.append(UInt8(byte)) }
        let page = String(decoding: bytes, as: UTF8.self)
        let lines = screen(80).split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        let shown = lines.map { $0.isEmpty ? "\n" : "    \($0)\n" }.joined()
        #expect(page.contains(shown), "\(shown)")
    }
    @Test("no line is wider than the terminal, nor are there more than it has; each column is whole") func sizes() {
        let (model, now) = Self.model()
        let titles: Set<String> = [
            "UNIT", "STATE", "BY", "RATE/S", "LAST", "AGE", "P50", "P99", "SAMPLES", "MISSING",
        ]
        for width in 1...140 {
            for height in [1, 5, 40] {
                let lines = FleetView(width: width, height: height).lines(model, now: now)
                #expect(lines.count <= height && lines.allSatisfy { $0.text.count <= width }, "\(width) × \(height)")
                guard width >= 24, let heading = lines.first(where: { $0.style == .heading }) else { continue }
                let words = heading.text.split(separator: " ").map(String.init)
                #expect(titles.isSuperset(of: words) && words.contains("MISSING"), "\(width): \(heading.text)")
            }
        }
    }
    @Test("what waited while the dashboard stood still is counted, but says nothing about latency") func standstill() {
        var model = FleetModel([7])
        func time(_ seconds: UInt64) -> Timestamp { Timestamp(microseconds: 1_000_000 * (1_000 + seconds)) }
        func add(_ sequence: UInt64, at published: UInt64, now: UInt64) {
            let stamp = Stamp(epoch: 1, sequence: sequence, previous: 0, publishedAt: time(published))
            _ = model.add(0, stamp, number: sequence, celsius: 1, now: time(now))
        }
        model.tick(now: time(0))
        add(1, at: 0, now: 0)
        model.tick(now: time(1))
        // Ctrl-Z for a minute; some come before the first tick, others after it.
        add(2, at: 2, now: 61)
        model.tick(now: time(61))
        add(3, at: 3, now: 61)
        add(4, at: 61, now: 61)
        model.tick(now: time(62))
        #expect(model.units[0].latency(0.99) == 0 && model.units[0].account.received == 4)
    }
    @Test("a gap is news as it comes, and so is a unit that is back; only the last ones are kept") func news() throws {
        var model = FleetModel([0, 1])
        let now = Timestamp(microseconds: 5_000_000)
        func stamp(_ epoch: UInt64) -> Stamp { Stamp(epoch: epoch, sequence: 1, previous: 0, publishedAt: now) }
        let first = model.add(1, stamp(7), number: 1, celsius: 1, now: now)
        let gap = Gap(2...UInt64.max, epoch: 7, count: nil, reason: .epochChanged)
        let killed = model.add(1, gap, now: now)
        let second = model.add(1, stamp(8), number: 1, celsius: 1, now: now)
        let back = try #require(second)
        #expect(first == nil)
        #expect(
            killed.sentence == "Unit 1: Events may be missing from sequence 2 on: the service's run has ended.")
        #expect(back.sentence == "Unit 1: It is back, and counts from 1.")
        #expect(model.news == [killed, back])
        for _ in 0..<20 { _ = model.add(0, gap, now: now) }
        #expect(model.news.count == FleetModel.mostNews && model.openEnds == 21)
    }
    @Test("a unit is live, away, and live again; what it never was, it is not away from") func states() {
        var model = FleetModel([0])
        var seen: [FleetModel.State] = [model.units[0].state]
        for state in [EventRelay.State.interrupted, .active, .interrupted, .active] {
            model.take(0, state)
            seen.append(model.units[0].state)
        }
        #expect(seen == [.waiting, .waiting, .live, .away, .live])
    }
    @Test("percentiles are within an eighth") func latencies() {
        for value: UInt64 in [0, 1, 7, 8, 9, 15, 16, 100, 999, 65_535, 1_000_000_000] {
            var one = Latencies()
            one.add(value)
            let found = one.percentile(0.5) ?? .max
            #expect(found <= value && value - found <= value / 8, "\(value): \(found)")
        }
        var many = Latencies()
        #expect(many.percentile(0.5) == nil)
        for value: UInt64 in 1...1_000 { many.add(value) }
        #expect((430...500).contains(many.percentile(0.5) ?? 0) && (860...990).contains(many.percentile(0.99) ?? 0))
        many.add(.max)
        #expect((many.percentile(1) ?? 0) > 1_000_000_000)
    }
}
