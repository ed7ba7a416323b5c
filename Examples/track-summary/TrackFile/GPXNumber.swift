/// Texts of a GPX file as numbers: nothing but what XML Schema allows for them.
enum GPXNumber {
    /// Of digits, a sign and a point: no exponents, no "nan", no hexadecimal numbers, which `Double` reads, too.
    static func decimal(_ text: String, in range: ClosedRange<Double>) -> Double? {
        let isDecimal = text.utf8.allSatisfy { byte in
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "+-.".utf8.contains(byte)
        }
        guard isDecimal, text.utf8.count <= 40, let number = Double(text), range.contains(number) else { return nil }
        return number
    }

    /// `2026-05-01T12:30:00.5Z`, or with `+02:00` in place of `Z`. Without a zone it is UTC, as GPX has it.
    static func secondsSince1970(_ text: String) -> Double? {
        var rest = Substring(text)
        guard let year = take(4, &rest), drop("-", &rest), let month = take(2, &rest), drop("-", &rest),
            let day = take(2, &rest), drop("T", &rest), let hour = take(2, &rest), drop(":", &rest),
            let minute = take(2, &rest), drop(":", &rest), let second = take(2, &rest),
            (1...12).contains(month), (1...days(in: month, of: year)).contains(day), hour < 24, minute < 60,
            second <= 60
        else { return nil }
        var fraction = 0.0
        if drop(".", &rest) {
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            guard (1...9).contains(digits.count), let value = Double("0." + digits) else { return nil }
            fraction = value
            rest = rest.dropFirst(digits.count)
        }
        guard let offset = zoneSeconds(rest) else { return nil }
        let seconds = ((daysSince1970(year, month, day) * 24 + hour) * 60 + minute) * 60 + second
        return Double(seconds - offset) + fraction
    }
    private static func zoneSeconds(_ text: Substring) -> Int? {
        if text.isEmpty || text == "Z" { return 0 }
        var rest = text
        let sign = drop("+", &rest) ? 1 : drop("-", &rest) ? -1 : 0
        guard sign != 0, let hours = take(2, &rest), drop(":", &rest), let minutes = take(2, &rest), rest.isEmpty,
            hours <= 14, minutes < 60
        else { return nil }
        return sign * (hours * 60 + minutes) * 60
    }
    private static func take(_ count: Int, _ rest: inout Substring) -> Int? {
        let digits = rest.prefix(count)
        guard digits.count == count, digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        rest = rest.dropFirst(count)
        return Int(digits)
    }
    private static func drop(_ character: Character, _ rest: inout Substring) -> Bool {
        guard rest.first == character else { return false }
        rest = rest.dropFirst()
        return true
    }
    private static func days(in month: Int, of year: Int) -> Int {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return month == 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
    }
    /// Years that begin in March: the leap day is their last one.
    private static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let shifted = month > 2 ? year : year - 1
        let century = shifted >= 0 ? shifted / 400 : (shifted - 399) / 400
        let yearOfEra = shifted - century * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return century * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    static func trimmed(_ text: String) -> String {
        let kept = text.drop { $0.isWhitespace }
        return String(kept.reversed().drop { $0.isWhitespace }.reversed())
    }
}
