import Glibc
import RelayCore
import RelayTool
import TestTraits
import Testing

@testable import relay_cli

@Suite("What --since and --until take", .tags(.g8))
struct WhenTests {
    /// 2026-11-20, 13:37:00.5 in UTC.
    private static let now: UInt64 = 1_795_181_820_500_000

    private func point(
        _ text: String, _ option: Option<When?> = EventOptions.since, offset: Int64 = 0
    ) throws -> StreamPoint {
        let time = LocalTime(now: Timestamp(microseconds: Self.now)) { _ in offset }
        return try option.point(try #require(try option.read(text)), at: time)
    }
    private func time(_ text: String, offset: Int64 = 0) throws -> String? {
        guard case .time(let time) = try point(text, offset: offset) else { return nil }
        var output = ByteBuffer()
        EventClock.append(timestamp: time.microseconds, to: &output)
        return output.text
    }
    private func refusal(_ text: String, _ option: Option<When?> = EventOptions.since) -> UsageError? {
        do {
            _ = try point(text, option)
            return nil
        } catch { return error as? UsageError }
    }

    @Test("digits are a sequence")
    func sequences() throws {
        #expect(try point("1") == .sequence(1))
        #expect(try point("0017") == .sequence(17))
        #expect(try point("2026") == .sequence(2026))
        #expect(try point("18446744073709551615", EventOptions.until) == .sequence(.max))
    }

    @Test("start is the oldest event, for --since alone")
    func start() throws {
        #expect(try point("start") == .oldest)
        #expect(refusal("start", EventOptions.until) != nil)
    }

    @Test(
        "times, here where clocks show UTC",
        arguments: [
            ("2026-11-20T13:00:00", "2026-11-20T13:00:00.000000Z"),
            ("2026-11-20 13:00:00", "2026-11-20T13:00:00.000000Z"),
            ("2026-11-20t13:00", "2026-11-20T13:00:00.000000Z"), ("2026-11-20", "2026-11-20T00:00:00.000000Z"),
            ("2026-11-20T13:00:00.5", "2026-11-20T13:00:00.500000Z"),
            ("2026-11-20T13:00:00.1234569", "2026-11-20T13:00:00.123456Z"),
            ("2026-11-20T13:00:00.000001", "2026-11-20T13:00:00.000001Z"),
            ("13:00", "2026-11-20T13:00:00.000000Z"), ("9:05", "2026-11-20T09:05:00.000000Z"),
            ("23:59:59.999999", "2026-11-20T23:59:59.999999Z"), ("00:00", "2026-11-20T00:00:00.000000Z"),
            ("2026-11-20T13:00:00Z", "2026-11-20T13:00:00.000000Z"),
            ("2026-11-20T13:00z", "2026-11-20T13:00:00.000000Z"),
            ("2026-11-20T13:00:00+01:00", "2026-11-20T12:00:00.000000Z"),
            ("2026-11-20T13:00:00.25-05:30", "2026-11-20T18:30:00.250000Z"),
            ("2026-11-20T00:00:00+23:59", "2026-11-19T00:01:00.000000Z"),
            ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000000Z"), ("2024-02-29", "2024-02-29T00:00:00.000000Z"),
            ("2000-02-29", "2000-02-29T00:00:00.000000Z"), ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59.000000Z"),
            ("@0", "1970-01-01T00:00:00.000000Z"), ("@1795179600", "2026-11-20T13:00:00.000000Z"),
            ("@1795179600.25", "2026-11-20T13:00:00.250000Z"),
            ("0s", "2026-11-20T13:37:00.500000Z"), ("90s", "2026-11-20T13:35:30.500000Z"),
            ("15m", "2026-11-20T13:22:00.500000Z"), ("2h", "2026-11-20T11:37:00.500000Z"),
            ("3d", "2026-11-17T13:37:00.500000Z"),
        ])
    func times(text: String, expected: String) throws {
        #expect(try time(text) == expected)
    }

    @Test("a local time is that of the clocks here; one with a zone is not")
    func zones() throws {
        #expect(try time("2026-11-20T13:00:00", offset: 3_600) == "2026-11-20T12:00:00.000000Z")
        #expect(try time("2026-11-20", offset: -18_000) == "2026-11-20T05:00:00.000000Z")
        #expect(try time("2026-11-20T13:00:00Z", offset: 3_600) == "2026-11-20T13:00:00.000000Z")
        // Here it is the 21st already, or still the 19th.
        #expect(try time("01:00", offset: 12 * 3_600) == "2026-11-20T13:00:00.000000Z")
        #expect(try time("23:00", offset: -14 * 3_600) == "2026-11-20T13:00:00.000000Z")
    }

    @Test("what --json prints of an event's time is read to the microsecond")
    func roundTrip() throws {
        var generator = SeededGenerator(seed: 0x71FE)
        for _ in 0..<5_000 {
            let microseconds = generator.next() % 253_402_300_800_000_000
            var output = ByteBuffer()
            EventClock.append(timestamp: microseconds, to: &output)
            #expect(
                try point(output.text, offset: 7_200) == .time(Timestamp(microseconds: microseconds)), "\(output.text)")
        }
    }

    private static let examples =
        "is no sequence, time or duration: 17, 2026-11-20T13:00:00, 13:00, 2026-11-20, @1795179600, 15m"

    @Test(
        "what is none of these is refused, and told how it looks",
        arguments: [
            "", " ", "now", "Start", "-1", "+17", "1.5", "17 ", " 17", "1h30m", "15 m", "15M", "1w", "m", "s", "@",
            "@x",
            "@-1", "@1.", "@1.5x", "@9223372036854775808", "13", "13:", "13:0", "13:00:", "13:00:5", "13:00.5",
            "13:00:00.",
            "13:00Z", "013:00", ":00", "2026-", "2026-11", "2026-11-", "2026-1-20", "2026-11-2", "26-11-20", "20261120",
            "02026-11-20", "2026-11-20T", "2026-11-20T13", "2026-11-20T13:", "2026-11-20X13:00", "2026-11-20  13:00",
            "2026-11-20T13:00:00+1", "2026-11-20T13:00:00+0100", "2026-11-20T13:00:00+01:0", "2026-11-20T13:00:00ZZ",
            "2026-11-20Z", "2026-11-20+01:00", "2026/11/20", "20.11.2026", "２０２６-11-20", "1７", "13:00\u{0}",
            "2026-11-20T13:00:00.1234567890123456789",
        ].filter { !["13", "20261120"].contains($0) })
    func refusals(text: String) throws {
        #expect(refusal(text) == UsageError("option '--since': '\(text)' \(Self.examples), start"))
        #expect(refusal(text, EventOptions.until) == UsageError("option '--until': '\(text)' \(Self.examples)"))
    }

    @Test(
        "what looks like one but cannot be is refused with the reason",
        arguments: [
            ("0", "is no sequence: they begin with 1"), ("000", "is no sequence: they begin with 1"),
            ("18446744073709551616", "is no sequence: there is none above 18446744073709551615"),
            ("2026-02-30", "is no time: there is no day 2026-02-30"),
            ("2026-02-29T13:00", "is no time: there is no day 2026-02-29"),
            ("1900-02-29", "is no time: there is no day 1900-02-29"),
            ("2026-00-01", "is no time: there is no day 2026-00-01"),
            ("2026-13-01", "is no time: there is no day 2026-13-01"),
            ("2026-04-31", "is no time: there is no day 2026-04-31"),
            ("2026-11-00", "is no time: there is no day 2026-11-00"),
            ("24:00", "is no time: there is no 24:00:00 in a day"),
            ("13:60", "is no time: there is no 13:60:00 in a day"),
            ("2026-11-20T23:59:60Z", "is no time: there is no 23:59:60 in a day"),
            ("2026-11-20T13:00:00+24:00", "is no time: there is no zone +24:00"),
            ("2026-11-20T13:00:00-01:60", "is no time: there is no zone -01:60"),
            ("1969-12-31T23:59:59Z", "is before 1970"), ("0001-01-01", "is before 1970"), ("99999d", "is before 1970"),
            ("18446744073709551616s", "is before 1970"), ("18446744073709551615d", "is before 1970"),
            ("@9223372036854775807", "is no time: it is too late for a clock"),
        ])
    func impossible(text: String, reason: String) {
        #expect(refusal(text) == UsageError("option '--since': '\(text)' \(reason)"))
    }

    @Test("no text traps, and every one ends in a point or in one line that names it")
    func noise() {
        var generator = SeededGenerator(seed: 0xB0B)
        let alphabet = Array("0123456789:-+.@TZ smhd".unicodeScalars)
        for _ in 0..<50_000 {
            var text = String.UnicodeScalarView()
            for _ in 0..<(generator.next() % 26) {
                text.append(alphabet[Int(generator.next() % UInt64(alphabet.count))])
            }
            guard let failure = refusal(String(text)) else { continue }
            #expect(failure.message.hasPrefix("option '--since': '\(String(text))' is "), "seed 0xB0B")
        }
    }
}

@Suite("The clocks here")
struct LocalTimeTests {
    /// A zone that puts its clocks forward by an hour at second 1,000,000 and back at 2,000,000.
    private let zone = LocalTime(now: Timestamp(microseconds: 0)) {
        (1_000_000..<2_000_000).contains($0) ? 7_200 : 3_600
    }

    @Test("every local time that there is leads to one at which clocks show it")
    func roundTrip() {
        for seconds in stride(from: Int64(900_000), to: 2_100_000, by: 37) {
            let local = seconds + zone.offset(seconds)
            let found = zone.utc(local)
            #expect(found + zone.offset(found) == local)
            // The hour that comes twice is its first one.
            let isSecond = (2_000_000..<2_003_600).contains(seconds)
            #expect(found == (isSecond ? seconds - 3_600 : seconds))
        }
    }

    @Test("an hour that is left out goes on behind the change")
    func skipped() {
        // Clocks go from 1,003,600 to 1,007,200.
        #expect(zone.utc(1_003_599) == 999_999)
        #expect(zone.utc(1_003_600) == 1_000_000)
        #expect(zone.utc(1_005_400) == 1_001_800)
        #expect(zone.utc(1_007_200) == 1_000_000)
    }

    @Test(
        "the C library's zones are followed, in both halves of the world",
        arguments: ["Europe/Berlin", "Australia/Sydney"])
    func system(name: String) async {
        await #expect(processExitsWith: .success) { [name] in
            setenv("TZ", name, 1)
            let time = LocalTime.ofProcess()
            var generator = SeededGenerator(seed: 0xC10C)
            for _ in 0..<10_000 {
                let seconds = Int64(generator.next() % 4_000_000_000)
                let local = seconds + time.offset(seconds)
                let found = time.utc(local)
                #expect(found + time.offset(found) == local, "\(seconds)")
                #expect(abs(found - seconds) <= 3_600, "\(seconds)")
            }
        }
    }

    @Test("days and dates agree with the C library's, both ways")
    func calendar() {
        var generator = SeededGenerator(seed: 0xDA7E)
        for _ in 0..<20_000 {
            let days = Int64(generator.next() % 6_000_000) - 719_000  // From the year 1 on.
            var time = time_t(days * 86_400)
            var parts = tm()
            gmtime_r(&time, &parts)
            let date = GregorianDate(daysSince1970: days)
            let expected = [Int64(parts.tm_year) + 1_900, Int64(parts.tm_mon) + 1, Int64(parts.tm_mday), days]
            #expect([date.year, date.month, date.day, date.daysSince1970] == expected, "seed 0xDA7E")
            #expect(GregorianDate(year: date.year, month: date.month, day: date.day) == date)
        }
    }
}
