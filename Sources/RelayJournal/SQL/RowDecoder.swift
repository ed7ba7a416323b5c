import RelayCore
/// Makes a `Decodable` value of a row: each property of the column of its name.
struct RowDecoder: Decoder {
    /// By the lower-case names of the columns: to SQLite, upper and lower case are the same.
    let columns: [String: SQLValue]
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(_ row: borrowing Row) {
        var columns: [String: SQLValue] = [:]
        for column in 0..<row.count {
            guard let name = row.name(column)?.lowercased(), columns[name] == nil else { continue }
            columns[name] = row.value(column)
        }
        self.columns = columns
    }
    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(Columns<Key>(decoder: self))
    }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Self.unfit("an array") }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw Self.unfit("one value") }

    static func unfit(_ what: String) -> RelayError {
        RelayError(
            .schemaMismatch,
            "\(what) is not read of a row: read a struct whose properties are columns, or a value that is SQLStorable")
    }
    func stored<Value: SQLStorable>(_ name: String, _ type: Value.Type) throws -> Value {
        guard let stored = columns[name.lowercased()] else {
            throw RelayError(
                .schemaMismatch,
                "the row has no column '\(name)'; it has \(columns.keys.sorted().joined(separator: ", "))")
        }
        if let value = Value(stored: stored) { return value }
        throw RelayError(.schemaMismatch, "column '\(name)' has \(stored.kind) that is no \(Value.self)")
    }
}

private struct Columns<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: RowDecoder
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { decoder.columns.keys.compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { decoder.columns[key.stringValue.lowercased()] != nil }
    func decodeNil(forKey key: Key) throws -> Bool {
        try decoder.stored(key.stringValue, SQLValue.self) == .null
    }
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try stored(key) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try stored(key) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try stored(key) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try stored(key) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try stored(key) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try stored(key) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try stored(key) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try stored(key) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try stored(key) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try stored(key) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try stored(key) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try stored(key) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try stored(key) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try stored(key) }
    private func stored<Value: SQLStorable>(_ key: Key) throws -> Value {
        try decoder.stored(key.stringValue, Value.self)
    }
    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        if let storable = type as? any SQLStorable.Type, let value = try any(storable, key) as? T { return value }
        return try T(from: ValueDecoder(decoder: decoder, name: key.stringValue))
    }
    private func any(_ type: any SQLStorable.Type, _ key: Key) throws -> any SQLStorable {
        func value<Value: SQLStorable>(_ type: Value.Type) throws -> any SQLStorable {
            try decoder.stored(key.stringValue, type)
        }
        return try value(type)
    }
    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> { throw RowDecoder.unfit("column '\(key.stringValue)' as a struct") }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        throw RowDecoder.unfit("column '\(key.stringValue)' as an array")
    }
    func superDecoder() throws -> any Decoder { throw RowDecoder.unfit("a superclass") }
    func superDecoder(forKey key: Key) throws -> any Decoder { throw RowDecoder.unfit("a superclass") }
}

/// A property that is no `SQLStorable`, such as an enum with a raw value: it asks for one value.
private struct ValueDecoder: Decoder, SingleValueDecodingContainer {
    let decoder: RowDecoder
    let name: String
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        throw RowDecoder.unfit("column '\(name)' as a struct")
    }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw RowDecoder.unfit("column '\(name)' as an array")
    }
    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { decoder.columns[name.lowercased()] == .null }
    func decode(_ type: Bool.Type) throws -> Bool { try stored() }
    func decode(_ type: String.Type) throws -> String { try stored() }
    func decode(_ type: Double.Type) throws -> Double { try stored() }
    func decode(_ type: Float.Type) throws -> Float { try stored() }
    func decode(_ type: Int.Type) throws -> Int { try stored() }
    func decode(_ type: Int8.Type) throws -> Int8 { try stored() }
    func decode(_ type: Int16.Type) throws -> Int16 { try stored() }
    func decode(_ type: Int32.Type) throws -> Int32 { try stored() }
    func decode(_ type: Int64.Type) throws -> Int64 { try stored() }
    func decode(_ type: UInt.Type) throws -> UInt { try stored() }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try stored() }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try stored() }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try stored() }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try stored() }
    func decode<T: Decodable>(_ type: T.Type) throws -> T { try T(from: self) }
    private func stored<Value: SQLStorable>() throws -> Value { try decoder.stored(name, Value.self) }
}

extension Row {
    /// A value of a row: of its first column if a column can hold the type, else of the columns of its properties' names.
    func decoded<T: Decodable>(as type: T.Type) throws -> T {
        func first<Value: SQLStorable>(_ type: Value.Type) throws -> any SQLStorable { try self[0, as: type] }
        if let storable = type as? any SQLStorable.Type, let value = try first(storable) as? T { return value }
        return try T(from: RowDecoder(self))
    }
}
