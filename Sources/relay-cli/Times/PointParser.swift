import RelayCore
import RelayTool

/// Reads what `--since` and `--until` take: a sequence, a time, how long ago, or `start`.
struct PointParser {
    let time: LocalTime
    let key: OptionKey

    /// Throws `.usage` with the option, the text, and what is wrong with it.
    func point(_ text: String) throws(CLIFailure) -> StreamPoint {
        if text == "start" && key == .since { return .oldest }
        let bytes = ArraySlice(text.utf8)
        let digits = bytes.prefix(while: Self.isDigit)
        let rest = bytes[digits.endIndex...]
        if !digits.isEmpty && rest.isEmpty { return .sequence(try sequence(text)) }
        if !digits.isEmpty, rest.count == 1, let unit = rest.first.flatMap({ Self.units[$0] }) {
            return .time(try ago(digits, unit, text))
        }
        var scanner = TimeScanner(rest: bytes)
        let point: TimeScanner.Time?
        do throws(TimeScanner.Fault) { point = try scanner.time() } catch {
            throw wrong(text, "is no time: \(error.reason)")
        }
        guard let point else { throw wrong(text, "is no sequence, time or duration: \(examples)") }
        return .time(try timestamp(point, text))
    }

    private var examples: String {
        let common = "17, 2026-11-20T13:00:00, 13:00, 2026-11-20, @1795179600, 15m"
        return key == .since ? common + ", start" : common
    }
    private static let units: [UInt8: UInt64] = [
        UInt8(ascii: "s"): 1, UInt8(ascii: "m"): 60, UInt8(ascii: "h"): 3_600, UInt8(ascii: "d"): 86_400,
    ]
    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private func sequence(_ text: String) throws(CLIFailure) -> UInt64 {
        guard let value = UInt64(text) else { throw wrong(text, "is no sequence: there is none above \(UInt64.max)") }
        if value == 0 { throw wrong(text, "is no sequence: they begin with 1") }
        return value
    }

    private func ago(_ digits: ArraySlice<UInt8>, _ unit: UInt64, _ text: String) throws(CLIFailure) -> Timestamp {
        let microseconds = UInt64(String(decoding: digits, as: UTF8.self)).map {
            $0.multipliedReportingOverflow(by: unit * 1_000_000)
        }
        guard let microseconds, !microseconds.overflow, microseconds.partialValue <= time.now.microseconds else {
            throw wrong(text, "is before 1970")
        }
        return Timestamp(microseconds: time.now.microseconds - microseconds.partialValue)
    }

    private func timestamp(_ point: TimeScanner.Time, _ text: String) throws(CLIFailure) -> Timestamp {
        let seconds: Int64
        switch point.base {
        case .unix(let value): seconds = value
        case .today: seconds = time.utc(time.today * 86_400 + point.secondOfDay)
        case .date(let date, let offset):
            let calendar = date.daysSince1970 * 86_400 + point.secondOfDay
            seconds = offset.map { calendar - $0 } ?? time.utc(calendar)
        }
        guard seconds >= 0 else { throw wrong(text, "is before 1970") }
        let (whole, isTooLate) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000)
        if isTooLate || whole > UInt64.max - 1_000_000 { throw wrong(text, "is no time: it is too late for a clock") }
        return Timestamp(microseconds: whole + point.microseconds)
    }

    private func wrong(_ text: String, _ reason: String) -> CLIFailure {
        CLIFailure(.usage, "option '--\(key.name)': '\(text)' \(reason)")
    }
}
