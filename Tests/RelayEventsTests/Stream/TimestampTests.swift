import RelayEvents
import Testing

@Suite("Times") struct TimestampTests {
    @Test(
        "are shown as ISO 8601 in UTC, leap days and all",
        arguments: [
            (0, "1970-01-01T00:00:00.000000Z"), (1, "1970-01-01T00:00:00.000001Z"),
            (951_782_400_000_000, "2000-02-29T00:00:00.000000Z"), (951_868_799_999_999, "2000-02-29T23:59:59.999999Z"),
            (951_868_800_000_000, "2000-03-01T00:00:00.000000Z"),
            (4_107_542_400_000_000, "2100-03-01T00:00:00.000000Z"),
            (4_107_542_399_999_999, "2100-02-28T23:59:59.999999Z"),
            (1_795_339_800_123_456, "2026-11-22T09:30:00.123456Z"),
            (253_402_300_799_999_999, "9999-12-31T23:59:59.999999Z"),
            (253_402_300_800_000_000, "+10000-01-01T00:00:00.000000Z"),
            (UInt64.max, "+586524-01-19T08:01:49.551615Z"),
        ] as [(UInt64, String)])
    func description(microseconds: UInt64, text: String) {
        #expect("\(Timestamp(microseconds: microseconds))" == text)
    }
    @Test("each day of 800 years follows the one before") func calendar() {
        let lengths: [Int64] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        var (year, month, day): (Int64, Int64, Int64) = (1970, 1, 1)
        for number in 0..<292_194 as Range<UInt64> {
            func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
            let text = "\(Timestamp(microseconds: number * 86_400_000_000))"
            guard text == "\(year)-\(two(month))-\(two(day))T00:00:00.000000Z" else {
                Issue.record("day \(number) is \(text), not \(year)-\(month)-\(day)")
                return
            }
            let isLeap = year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
            let length = lengths[Int(month) - 1] + (month == 2 && isLeap ? 1 : 0)
            day += 1
            if day > length { (month, day) = (month + 1, 1) }
            if month > 12 { (year, month) = (year + 1, 1) }
        }
        #expect(year == 2770)
    }
    @Test("a sum beyond an end is that end, and `adding` tells so") func bounds() {
        let (first, last) = (Timestamp(microseconds: 0), Timestamp(microseconds: .max))
        let five = Timestamp(microseconds: 5_000_000)
        #expect(five + .seconds(2) == Timestamp(microseconds: 7_000_000))
        #expect(five + .seconds(-2) == Timestamp(microseconds: 3_000_000))
        #expect(five.adding(.seconds(-5)) == first && five.adding(.seconds(-6)) == nil)
        #expect(five + .seconds(-6) == first && five - .seconds(6) == first)
        #expect(last.adding(.microseconds(1)) == nil && last + .microseconds(1) == last)
        #expect(five.adding(Duration(secondsComponent: .max, attosecondsComponent: 0)) == nil)
        #expect(five + Duration(secondsComponent: .max, attosecondsComponent: 0) == last)
        #expect(five - Duration(secondsComponent: .min, attosecondsComponent: 0) == last)
        #expect(five + Duration(secondsComponent: .min, attosecondsComponent: 0) == first)
        #expect(five + .nanoseconds(999) == five)
        #expect(five + .milliseconds(1) - .microseconds(1) == Timestamp(microseconds: 5_000_999))
    }
    @Test("the difference of any two is a duration") func differences() {
        let (first, last) = (Timestamp(microseconds: 0), Timestamp(microseconds: .max))
        #expect(last - first == .microseconds(Int64.max) + .microseconds(Int64.max) + .microseconds(1))
        #expect(first - last == .zero - (last - first))
        #expect(Timestamp(microseconds: 7) - Timestamp(microseconds: 9) == .microseconds(-2))
        #expect(first + (last - first) == last && last + (first - last) == first)
    }
}
