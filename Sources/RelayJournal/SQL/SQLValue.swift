import RelayCore

/// A value as SQLite stores it.
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
    /// The 64 bits of a number, which always fit: for an epoch, or another number that is compared but not ordered. Half
    /// of all such numbers are negative in the column.
    ///
    /// Read it back with `UInt64(bitPattern: try row["epoch", as: Int64.self])`.
    ///
    /// - Parameter bits: the number.
    public init(bitPattern bits: UInt64) { self = .integer(Int64(bitPattern: bits)) }
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

extension SQLValue {
    /// Any value that a column can hold, as the journal's own statements take it.
    init(_ value: some SQLStorable) throws(RelayError) { self = try value.sqlValue }
    init(_ value: Int64) { self = .integer(value) }
    init(_ value: Int) { self = .integer(Int64(value)) }
}
