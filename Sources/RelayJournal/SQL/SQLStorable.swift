public import RelayCore

/// A type whose values a column can hold: for parameters of a statement, and for typed access to a ``Row``.
///
/// A type with a raw value needs no code for the conformance:
///
/// ```swift
/// enum Priority: Int, SQLStorable { case normal, urgent }
/// let priority: Priority = try row["priority"]
/// ```
public protocol SQLStorable {
    /// The value to store.
    ///
    /// - Throws: `.invalidArgument` for a value that SQLite cannot store as it is.
    var sqlValue: SQLValue { get throws(RelayError) }
    /// Makes a value from the stored one, or returns nil if it does not fit this type. NULL never fits.
    ///
    /// - Parameter stored: the column's value.
    init?(stored: SQLValue)
}

extension SQLStorable where Self: FixedWidthInteger {
    public var sqlValue: SQLValue {
        get throws(RelayError) {
            if let integer = Int64(exactly: self) { return .integer(integer) }
            throw RelayError(
                .invalidArgument,
                "\(Self.self) \(self) does not fit into a column, whose integers end at \(Int64.max): store it as text, or its "
                    + "bits by SQLValue(bitPattern:)")
        }
    }
    public init?(stored: SQLValue) {
        guard case .integer(let integer) = stored, let value = Self(exactly: integer) else { return nil }
        self = value
    }
}
extension Int: SQLStorable {}
extension Int8: SQLStorable {}
extension Int16: SQLStorable {}
extension Int32: SQLStorable {}
extension Int64: SQLStorable {}
extension UInt: SQLStorable {}
extension UInt8: SQLStorable {}
extension UInt16: SQLStorable {}
extension UInt32: SQLStorable {}
extension UInt64: SQLStorable {}

extension Double: SQLStorable {
    public var sqlValue: SQLValue {
        get throws(RelayError) {
            if isNaN { throw RelayError(.invalidArgument, "NaN would be stored as NULL: pass nil, if that is meant") }
            return .real(self)
        }
    }
    public init?(stored: SQLValue) {
        switch stored {
        case .real(let value): self = value
        // SQLite keeps 2.0 as 2 where the column allows it. One that a Double cannot hold exactly is none.
        case .integer(let value):
            guard let exact = Double(exactly: value) else { return nil }
            self = exact
        default: return nil
        }
    }
}
extension Float: SQLStorable {
    public var sqlValue: SQLValue { get throws(RelayError) { try Double(self).sqlValue } }
    // The nearest value.
    public init?(stored: SQLValue) {
        guard let wide = Double(stored: stored) else { return nil }
        let value = Float(wide)
        if value.isInfinite && wide.isFinite { return nil }
        self = value
    }
}
extension Bool: SQLStorable {
    public var sqlValue: SQLValue { get throws(RelayError) { .integer(self ? 1 : 0) } }
    // 0 and 1, and no other number.
    public init?(stored: SQLValue) {
        switch stored {
        case .integer(0): self = false
        case .integer(1): self = true
        default: return nil
        }
    }
}
extension String: SQLStorable {
    public var sqlValue: SQLValue { get throws(RelayError) { .text(self) } }
    public init?(stored: SQLValue) {
        guard case .text(let text) = stored else { return nil }
        self = text
    }
}
extension [UInt8]: SQLStorable {
    public var sqlValue: SQLValue { get throws(RelayError) { .blob(self) } }
    public init?(stored: SQLValue) {
        guard case .blob(let bytes) = stored else { return nil }
        self = bytes
    }
}
/// Stored as microseconds since 1970, so that SQL can compare and add.
extension Timestamp: SQLStorable {
    public var sqlValue: SQLValue { get throws(RelayError) { try microseconds.sqlValue } }
    public init?(stored: SQLValue) {
        guard let microseconds = UInt64(stored: stored) else { return nil }
        self.init(microseconds: microseconds)
    }
}

extension SQLStorable where Self: RawRepresentable, RawValue: SQLStorable {
    public var sqlValue: SQLValue { get throws(RelayError) { try rawValue.sqlValue } }
    public init?(stored: SQLValue) {
        guard let raw = RawValue(stored: stored), let value = Self(rawValue: raw) else { return nil }
        self = value
    }
}
