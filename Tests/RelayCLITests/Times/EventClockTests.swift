import RelayTool
import TestTraits
import Foundation
import Glibc
import TestTraits
import Testing

@testable import relay_cli

@Suite("Times")
struct EventClockTests {
    private func timeOfDay(_ microseconds: UInt64, offset: Int64) -> String {
        var clock = EventClock { _ in offset }
        var output = ByteBuffer()
        clock.append(timeOfDay: microseconds, to: &output)
        return output.text
    }
    private func timestamp(_ microseconds: UInt64) -> String {
        var output = ByteBuffer()
        EventClock.append(timestamp: microseconds, to: &output)
        return output.text
    }

    @Test("the hour of the day is local, with milliseconds that are cut off, not rounded")
    func local() {
        #expect(timeOfDay(1_795_166_104_123_999, offset: 0) == "09:15:04.123")
        #expect(timeOfDay(1_795_166_104_123_456, offset: 3_600) == "10:15:04.123")
        #expect(timeOfDay(1_795_166_104_123_456, offset: -5 * 3_600) == "04:15:04.123")
        #expect(timeOfDay(1_795_166_104_000_001, offset: 20_700) == "15:00:04.000")
        #expect(timeOfDay(0, offset: -1) == "23:59:59.000")
    }

    @Test("a date stands before the time: of every one, or of those that are not today's, here")
    func dates() {
        func text(_ dates: EventClock.Dates, _ microseconds: UInt64, offset: Int64 = 0) -> String {
            var clock = EventClock(dates: dates) { _ in offset }
            var output = ByteBuffer()
            clock.append(time: microseconds, to: &output)
            return output.text
        }
        let time: UInt64 = 1_795_166_104_123_456
        #expect(text(.never, time) == "09:15:04.123")
        #expect(text(.always, time) == "2026-11-20 09:15:04.123")
        #expect(text(.always, time, offset: -10 * 3_600) == "2026-11-19 23:15:04.123")
        #expect(text(.always, 0, offset: -1) == "1969-12-31 23:59:59.000")
        let hour: UInt64 = 3_600_000_000
        #expect(text(.ofOtherDays { time + 14 * hour }, time) == "09:15:04.123")
        #expect(text(.ofOtherDays { time + 15 * hour }, time) == "2026-11-20 09:15:04.123")
        #expect(text(.ofOtherDays { time + 15 * hour }, time, offset: -3_600) == "08:15:04.123")
        #expect(text(.ofOtherDays { time - 10 * hour }, time) == "2026-11-20 09:15:04.123")
    }

    @Test("the time zone is asked again when the second changes")
    func daylightSaving() {
        var clock = EventClock { $0 < 100 ? 3_600 : 7_200 }
        var output = ByteBuffer()
        for second: UInt64 in [99, 100, 99] {
            clock.append(timeOfDay: second * 1_000_000, to: &output)
            output.append(byte: 0x20)
        }
        #expect(output.text == "01:01:39.000 02:01:40.000 01:01:39.000 ")
    }

    @Test("UTC has all microseconds")
    func utc() {
        #expect(timestamp(1_795_166_104_123_456) == "2026-11-20T09:15:04.123456Z")
        #expect(timestamp(0) == "1970-01-01T00:00:00.000000Z")
        #expect(timestamp(951_782_400_000_000) == "2000-02-29T00:00:00.000000Z")
        #expect(timestamp(4_107_542_400_000_000) == "2100-03-01T00:00:00.000000Z")
        #expect(timestamp(UInt64.max) == "586524-01-19T08:01:49.551615Z")
    }

    @Test("dates agree with the C library's on 20,000 days")
    func calendar() {
        var generator = SeededGenerator(seed: 0x5EED)
        for _ in 0..<20_000 {
            let seconds = generator.next() % 253_402_300_800  // Until the year 9999.
            var time = time_t(seconds)
            var parts = tm()
            gmtime_r(&time, &parts)
            let expected = String(
                format: "%04d-%02d-%02dT%02d:%02d:%02d.000007Z", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                parts.tm_hour, parts.tm_min, parts.tm_sec)
            #expect(timestamp(seconds * 1_000_000 + 7) == expected, "seed 0x5EED, second \(seconds)")
        }
    }

    @Test("TZ is followed, summer time included")
    func timeZone() async {
        await #expect(processExitsWith: .success) {
            setenv("TZ", "EST5EDT,M3.2.0,M11.1.0", 1)
            var clock = EventClock.local()
            var output = ByteBuffer()
            clock.append(timeOfDay: 1_768_478_400_000_000, to: &output)  // 2026-01-15 12:00 UTC
            output.append(byte: 0x20)
            clock.append(timeOfDay: 1_784_116_800_000_000, to: &output)  // 2026-07-15 12:00 UTC
            #expect(output.text == "07:00:00.000 08:00:00.000")
        }
    }
}
