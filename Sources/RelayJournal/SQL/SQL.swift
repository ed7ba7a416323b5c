import RelayCore
/// One SQL statement, with the values of its parameters.
///
/// A value that is interpolated becomes a parameter: it is never part of the statement's text.
///
/// ```swift
/// try unit.execute("INSERT INTO jobs (title, pages) VALUES (\(title), \(pages))")
/// ```
///
/// A `String` that is put together at run time is no statement, so that no text of others can become part of one. Where the
/// text itself must vary, as with the name of a table or the column of an ORDER BY, interpolate it as `\(verbatim: name)`.
public struct SQL: ExpressibleByStringInterpolation, Sendable {
    let text: String
    private let values: Result<[SQLValue], RelayError>

    package init(_ text: String, _ values: [SQLValue] = []) { (self.text, self.values) = (text, .success(values)) }
    /// A statement without parameters.
    ///
    /// - Parameter value: the statement.
    public init(stringLiteral value: String) { self.init(value) }
    /// A statement with the values that are interpolated as its parameters.
    ///
    /// - Parameter stringInterpolation: the parts.
    public init(stringInterpolation: Interpolation) {
        text = stringInterpolation.text
        values = stringInterpolation.fault.map { .failure($0) } ?? .success(stringInterpolation.values)
    }
    /// Throws `InvalidArgument` for a value that no column can hold.
    func parameters() throws(RelayError) -> [SQLValue] { try values.get() }

    /// The parts of a statement.
    public struct Interpolation: StringInterpolationProtocol {
        fileprivate var text = ""
        fileprivate var values: [SQLValue] = []
        fileprivate var fault: RelayError?

        public init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity + interpolationCount)
            values.reserveCapacity(interpolationCount)
        }
        public mutating func appendLiteral(_ literal: String) { text += literal }
        /// A parameter.
        ///
        /// - Parameter value: any value that a column can hold. For one that SQLite cannot store as it is (an integer over
        ///   `Int64.max`, NaN) the statement throws `.invalidArgument`.
        public mutating func appendInterpolation<Value: SQLStorable>(_ value: Value) {
            text += "?"
            do throws(RelayError) { values.append(try value.sqlValue) } catch { fault = fault ?? error }
        }
        /// A parameter; nil is NULL.
        ///
        /// - Parameter value: any value that a column can hold, or nil.
        public mutating func appendInterpolation<Value: SQLStorable>(_ value: Value?) {
            if let value { return appendInterpolation(value) }
            text += "?"
            values.append(.null)
        }
        /// A part of the statement, with its own parameters.
        ///
        /// - Parameter part: the part, such as a condition that several statements have.
        public mutating func appendInterpolation(_ part: SQL) {
            text += part.text
            do throws(RelayError) { values += try part.parameters() } catch { fault = fault ?? error }
        }
        /// Does not compile: no column can hold such a value.
        @available(
            *, unavailable,
            message: "no column can hold this type: conform it to SQLStorable, which an enum with raw values only names"
        )
        public mutating func appendInterpolation<Value>(_ value: Value) {}
        /// A part of the statement's text: never one that comes from others.
        ///
        /// - Parameter text: the part.
        public mutating func appendInterpolation(verbatim text: String) { self.text += text }
    }
}

extension SQLValue: SQLStorable {
    public var sqlValue: SQLValue { get throws(RelayError) { self } }
    public init?(stored: SQLValue) { self = stored }
}

/// NULL is nil.
extension Optional: SQLStorable where Wrapped: SQLStorable {
    public var sqlValue: SQLValue { get throws(RelayError) { try self?.sqlValue ?? .null } }
    public init?(stored: SQLValue) {
        if stored == .null {
            self = .none
        } else if let value = Wrapped(stored: stored) {
            self = value
        } else {
            return nil
        }
    }
}
