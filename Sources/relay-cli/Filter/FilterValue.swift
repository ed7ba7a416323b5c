import RelayTool
/// A number of any of the wire's types. Compared by value: no rounding makes two of them equal.
enum FilterNumber: Equatable, Hashable, Sendable {
    case signed(Int64)
    case unsigned(UInt64)
    case double(Double)

    init(_ value: UInt64) { self = Int64(exactly: value).map { .signed($0) } ?? .unsigned(value) }

    /// nil: one of them is no number (NaN), and has no place among others.
    static func order(_ first: FilterNumber, _ second: FilterNumber) -> Int? {
        switch (first, second) {
        case (.signed(let a), .signed(let b)): sign(a, b)
        case (.unsigned(let a), .unsigned(let b)): sign(a, b)
        // An unsigned one can hold small values, too.
        case (.signed(let a), .unsigned(let b)): a < 0 ? -1 : sign(UInt64(a), b)
        case (.unsigned(let a), .signed(let b)): b < 0 ? 1 : sign(a, UInt64(b))
        case (.double(let a), .double(let b)): a.isNaN || b.isNaN ? nil : sign(a, b)
        case (.signed(let a), .double(let b)): order(a, b)
        case (.unsigned(let a), .double(let b)): order(a, b)
        case (.double(let a), .signed(let b)): order(b, a).map { -$0 }
        case (.double(let a), .unsigned(let b)): order(b, a).map { -$0 }
        }
    }
    private static func sign<Value: Comparable>(_ first: Value, _ second: Value) -> Int {
        first < second ? -1 : first == second ? 0 : 1
    }
    private static func order<Value: FixedWidthInteger>(_ whole: Value, _ other: Double) -> Int? {
        if other.isNaN { return nil }
        if let same = Value(exactly: other.rounded(.down)) {
            return whole != same ? sign(whole, same) : other > other.rounded(.down) ? -1 : 0
        }
        return other > 0 ? -1 : 1
    }
}

/// What an operand of an expression is for one event.
enum FilterValue: Equatable, Sendable {
    /// A missing optional, or a key that a table has not.
    case missing
    case bool(Bool)
    case number(FilterNumber)
    case text(String)
    /// A list's elements, or a table's keys: for `contains`. Those that have parts are left out.
    case list([FilterValue])
    /// One with parts: nothing but there.
    case compound

    static func order(_ first: FilterValue, _ second: FilterValue) -> Int? {
        switch (first, second) {
        case (.number(let a), .number(let b)): FilterNumber.order(a, b)
        case (.text(let a), .text(let b)): a < b ? -1 : a == b ? 0 : 1
        case (.bool(let a), .bool(let b)): a == b ? 0 : a ? 1 : -1
        default: nil
        }
    }
    static func isSame(_ first: FilterValue, _ second: FilterValue) -> Bool {
        if case .missing = first, case .missing = second { return true }
        return order(first, second) == 0
    }
}
