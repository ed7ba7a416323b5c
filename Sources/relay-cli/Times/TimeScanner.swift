/// Takes a time apart: `2026-11-20T13:00:00`, `13:00`, `2026-11-20`, RFC 3339, `@` and seconds since 1970.
struct TimeScanner {
    struct Time: Equatable {
        enum Base: Equatable {
            case today
            /// With seconds to add to UTC, where a zone is given.
            case date(GregorianDate, offset: Int64?)
            case unix(Int64)
        }
        var base: Base
        var secondOfDay: Int64 = 0
        var microseconds: UInt64 = 0
    }
    struct Fault: Error, Equatable {
        let reason: String
    }
    var rest: ArraySlice<UInt8>

    /// nil for what does not look like a time at all.
    mutating func time() throws(Fault) -> Time? {
        if skip("@") { return try unix() }
        let digits = rest.prefix(while: Self.isDigit).count
        let separator = rest.dropFirst(digits).first
        if (1...2).contains(digits) && separator == UInt8(ascii: ":") {
            var time = Time(base: .today)
            guard try ofDay(&time), rest.isEmpty else { return nil }
            return time
        }
        guard digits == 4, separator == UInt8(ascii: "-") else { return nil }
        return try dated()
    }

    private mutating func unix() throws(Fault) -> Time? {
        guard let digits = number(1...20), let seconds = Int64(digits) else { return nil }
        var time = Time(base: .unix(seconds))
        guard fraction(&time), rest.isEmpty else { return nil }
        return time
    }

    private mutating func dated() throws(Fault) -> Time? {
        guard let year = number(4...4), skip("-"), let month = number(2...2), skip("-"), let day = number(2...2),
            let numbers = Self.numbers(year, month, day)
        else { return nil }
        guard let date = GregorianDate(year: numbers.0, month: numbers.1, day: numbers.2) else {
            throw Fault(reason: "there is no day \(year)-\(month)-\(day)")
        }
        var time = Time(base: .date(date, offset: nil))
        if rest.isEmpty { return time }
        guard skip("T") || skip("t") || skip(" "), try ofDay(&time) else { return nil }
        if rest.isEmpty { return time }
        guard let offset = try zone(), rest.isEmpty else { return nil }
        time.base = .date(date, offset: offset)
        return time
    }

    /// `13:00`, `13:00:05`, `13:00:05.25`
    private mutating func ofDay(_ time: inout Time) throws(Fault) -> Bool {
        guard let hour = number(1...2), skip(":"), let minute = number(2...2) else { return false }
        var second = "00"
        let hasSeconds = skip(":")
        if hasSeconds {
            guard let digits = number(2...2) else { return false }
            second = digits
        }
        guard let numbers = Self.numbers(hour, minute, second) else { return false }
        guard numbers.0 < 24, numbers.1 < 60, numbers.2 < 60 else {
            throw Fault(reason: "there is no \(hour):\(minute):\(second) in a day")
        }
        time.secondOfDay = numbers.0 * 3_600 + numbers.1 * 60 + numbers.2
        return hasSeconds ? fraction(&time) : true
    }

    /// What is finer than a microsecond is cut off. False where digits lack.
    private mutating func fraction(_ time: inout Time) -> Bool {
        guard skip(".") else { return true }
        guard let digits = number(1...18) else { return false }
        let padded = digits.prefix(6) + String(repeating: "0", count: max(0, 6 - digits.count))
        time.microseconds = UInt64(padded) ?? 0
        return true
    }

    /// `Z`, `+01:00`
    private mutating func zone() throws(Fault) -> Int64? {
        if skip("Z") || skip("z") { return 0 }
        let isWest = rest.first == UInt8(ascii: "-")
        guard skip("+") || skip("-"), let hour = number(2...2), skip(":"), let minute = number(2...2),
            let numbers = Self.numbers(hour, minute, "00")
        else { return nil }
        guard numbers.0 < 24, numbers.1 < 60 else {
            throw Fault(reason: "there is no zone \(isWest ? "-" : "+")\(hour):\(minute)")
        }
        let seconds = numbers.0 * 3_600 + numbers.1 * 60
        return isWest ? -seconds : seconds
    }

    // MARK: Parts

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static func numbers(_ first: String, _ second: String, _ third: String) -> (Int64, Int64, Int64)? {
        guard let first = Int64(first), let second = Int64(second), let third = Int64(third) else { return nil }
        return (first, second, third)
    }
    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest.removeFirst()
        return true
    }
    /// All digits that follow, if they are so many.
    private mutating func number(_ count: ClosedRange<Int>) -> String? {
        let digits = rest.prefix(while: Self.isDigit)
        guard count.contains(digits.count) else { return nil }
        rest = rest[digits.endIndex...]
        return String(decoding: digits, as: UTF8.self)
    }
}
