public import RelayCore

/// A value that SQLite stores, and a parameter of a statement.
///
/// ```swift
/// let update = "UPDATE jobs SET pages = ?, note = ? WHERE id = ?"
/// try unit.execute(update, [SQLValue(pages), SQLValue(note), SQLValue(id)])
/// ```
public enum SQLValue: Hashable, Sendable {
    /// A whole number.
    case integer(Int64)
    /// A floating-point number.
    case real(Double)
    /// A string.
    case text(String)
    /// Bytes.
    case blob([UInt8])
    /// NULL.
    case null
}

extension SQLValue {
    /// Any value that a column can hold.
    ///
    /// - Parameter value: an integer, a floating-point number, a `Bool`, a string, bytes, or a type of your own.
    /// - Throws: `.invalidArgument` for what SQLite cannot store as it is: an integer over `Int64.max`, and NaN.
    public init<Value: SQLStorable>(_ value: Value) throws(RelayError) { self = try value.sqlValue }
    /// Any value that a column can hold; nil is NULL.
    ///
    /// - Parameter value: the value, or nil.
    /// - Throws: `.invalidArgument` for what SQLite cannot store as it is: an integer over `Int64.max`, and NaN.
    public init<Value: SQLStorable>(_ value: Value?) throws(RelayError) { self = try value?.sqlValue ?? .null }
    /// An integer, which always fits.
    ///
    /// - Parameter value: the integer.
    public init(_ value: Int) { self = .integer(Int64(value)) }
    /// An integer, which always fits.
    ///
    /// - Parameter value: the integer.
    public init(_ value: Int32) { self = .integer(Int64(value)) }
    /// An integer, which always fits.
    ///
    /// - Parameter value: the integer.
    public init(_ value: Int64) { self = .integer(value) }
    /// The 64 bits of a number, which always fit: for an epoch, or another number that is compared but not ordered. Half
    /// of all such numbers are negative in the column.
    ///
    /// ```swift
    /// let insert = "INSERT INTO seen (epoch, sequence) VALUES (?, ?)"
    /// try unit.execute(insert, [SQLValue(bitPattern: stamp.epoch), SQLValue(stamp.sequence)])
    /// ```
    ///
    /// Read it back with `UInt64(bitPattern: try row["epoch", as: Int64.self])`.
    ///
    /// - Parameter bits: the number.
    public init(bitPattern bits: UInt64) { self = .integer(Int64(bitPattern: bits)) }
    /// 1 for true, 0 for false.
    ///
    /// - Parameter value: the value.
    public init(_ value: Bool) { self = .integer(value ? 1 : 0) }
    /// A string.
    ///
    /// - Parameter value: the text.
    public init(_ value: String) { self = .text(value) }
    /// Bytes.
    ///
    /// - Parameter value: the bytes.
    public init(_ value: [UInt8]) { self = .blob(value) }
}

extension SQLValue: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral, ExpressibleByNilLiteral,
    ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral
{
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(stringLiteral value: String) { self = .text(value) }
    public init(nilLiteral: ()) { self = .null }
    public init(floatLiteral value: Double) { self = .real(value) }
    public init(booleanLiteral value: Bool) { self = .integer(value ? 1 : 0) }
}

extension SQLValue {
    /// What it is, for messages: never the value, which may be anybody's.
    var kind: String {
        switch self {
        case .integer: "an integer"
        case .real: "a floating-point number"
        case .text: "text"
        case .blob: "bytes"
        case .null: "NULL"
        }
    }
}
