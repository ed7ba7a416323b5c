import RelayCore
import RelayTool
/// A place in the events that a service keeps. As the beginning or the end of a range, it is in the range.
enum StreamPoint: Equatable, Sendable {
    /// The oldest event that is kept.
    case oldest
    /// An event of one interface.
    case sequence(UInt64)
    case time(Timestamp)
}

/// What `--since` and `--until` take, before a clock was asked: a sequence, a time, how long ago, or `start`.
struct When: Sendable {
    private enum Form {
        case start
        case sequence(UInt64)
        /// In microseconds; nil: more than there are.
        case ago(UInt64?)
        case time(TimeScanner.Time)
    }
    let text: String
    private let form: Form

    init(_ text: String, allowsStart: Bool) throws(Unfit) {
        self.text = text
        form = try Self.form(text, allowsStart)
    }

    private static func form(_ text: String, _ allowsStart: Bool) throws(Unfit) -> Form {
        if text == "start" && allowsStart { return .start }
        let bytes = ArraySlice(text.utf8)
        let digits = bytes.prefix { (0x30...0x39).contains($0) }
        let rest = bytes[digits.endIndex...]
        if !digits.isEmpty && rest.isEmpty { return .sequence(try sequence(text)) }
        if !digits.isEmpty, rest.count == 1, let unit = rest.first.flatMap({ units[$0] }) {
            let length = UInt64(String(decoding: digits, as: UTF8.self)).map {
                $0.multipliedReportingOverflow(by: unit * 1_000_000)
            }
            return .ago(length.flatMap { $0.overflow ? nil : $0.partialValue })
        }
        var scanner = TimeScanner(rest: bytes)
        let time: TimeScanner.Time?
        do throws(TimeScanner.Fault) { time = try scanner.time() } catch {
            throw Unfit("is no time: \(error.reason)")
        }
        let examples = "17, 2026-11-20T13:00:00, 13:00, 2026-11-20, @1795179600, 15m" + (allowsStart ? ", start" : "")
        guard let time else { throw Unfit("is no sequence, time or duration: \(examples)") }
        return .time(time)
    }
    private static let units: [UInt8: UInt64] = [
        UInt8(ascii: "s"): 1, UInt8(ascii: "m"): 60, UInt8(ascii: "h"): 3_600, UInt8(ascii: "d"): 86_400,
    ]
    private static func sequence(_ text: String) throws(Unfit) -> UInt64 {
        guard let value = UInt64(text) else { throw Unfit("is no sequence: there is none above \(UInt64.max)") }
        if value == 0 { throw Unfit("is no sequence: they begin with 1") }
        return value
    }

    func point(at time: LocalTime) throws(Unfit) -> StreamPoint {
        switch form {
        case .start: return .oldest
        case .sequence(let sequence): return .sequence(sequence)
        case .ago(let microseconds):
            guard let microseconds, microseconds <= time.now.microseconds else { throw Unfit("is before 1970") }
            return .time(Timestamp(microseconds: time.now.microseconds - microseconds))
        case .time(let scanned): return .time(try Self.timestamp(scanned, time))
        }
    }

    private static func timestamp(_ scanned: TimeScanner.Time, _ time: LocalTime) throws(Unfit) -> Timestamp {
        let seconds: Int64
        switch scanned.base {
        case .unix(let value): seconds = value
        case .today: seconds = time.utc(time.today * 86_400 + scanned.secondOfDay)
        case .date(let date, let offset):
            let calendar = date.daysSince1970 * 86_400 + scanned.secondOfDay
            seconds = offset.map { calendar - $0 } ?? time.utc(calendar)
        }
        guard seconds >= 0 else { throw Unfit("is before 1970") }
        let (whole, isTooLate) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000)
        if isTooLate || whole > UInt64.max - 1_000_000 { throw Unfit("is no time: it is too late for a clock") }
        return Timestamp(microseconds: whole + scanned.microseconds)
    }
}

extension ValueKind where Value == When {
    static func when(allowsStart: Bool) -> ValueKind {
        ValueKind("WHEN") { text throws(Unfit) in try When(text, allowsStart: allowsStart) }
    }
}
