/// Answers every read of a number with bytes that no other field has, and writes down what was read.
final class PatternDecoder: Decoder, SingleValueDecodingContainer {
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }
    private var shape = Shape.nothing
    let record: PatternRecord
    /// The field that this decodes; empty for the event itself.
    private let field: String

    /// What a type has asked for: its layout in words, see `LayoutParser`.
    private enum Shape {
        case nothing, single(String), structure([String])
    }

    init(_ record: PatternRecord, field: String = "") { (self.record, self.field) = (record, field) }

    /// A number's kind and size, or a structure in parentheses.
    func layout() throws(SchemaRefusal) -> String {
        switch shape {
        case .single(let text): text
        case .structure(let fields) where !fields.isEmpty: "(" + fields.joined(separator: ",") + ")"
        case .nothing, .structure: throw refusal("it has no fields")
        }
    }
    func refusal(_ reason: String, field name: String? = nil) -> SchemaRefusal {
        SchemaRefusal(type: record.root, field: name ?? field, reason: reason)
    }

    func take<T: Decodable>(_ type: T.Type, field name: String) throws -> (T, layout: String) {
        if let number = record.number(type, field: name) { return number }
        if type == Bool.self { throw refusal("a Bool has only two valid bytes; use UInt8", field: name) }
        if type is any RawRepresentable.Type && type is any CaseIterable.Type {
            throw refusal("\(type) is an enum: not every byte is valid; use its raw value", field: name)
        }
        if type is any WireRepresented.Type {
            throw refusal(
                "\(type) is another number in memory than on the wire; use Timestamp, or a number", field: name)
        }
        if type is any TaggedEnum.Type {
            throw refusal(
                "\(type) is an enum: not every byte is valid; send an event without a fixed layout", field: name)
        }
        if let array = type as? any FixedLayoutArray.Type {
            let (value, layout) = try take(array: array, field: name)
            return (value as! T, layout)  // Of this very type.
        }
        let inner = PatternDecoder(record, field: name)
        let value = try type.init(from: inner)
        return (value, try inner.layout())
    }
    private func take<A: FixedLayoutArray>(array: A.Type, field name: String) throws(SchemaRefusal) -> (
        any FixedLayoutArray, layout: String
    ) {
        let number = try A.number { refusal($0, field: name) }
        return record.array(array, number, field: name)
    }
    func add(_ name: String, _ layout: String) throws(SchemaRefusal) {
        guard case .structure(let fields) = shape else { throw refusal("it is read in two ways") }
        shape = .structure(fields + [name + ":" + layout])
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        switch shape {
        case .nothing: shape = .structure([])
        case .structure: break
        case .single: throw refusal("it is read in two ways")
        }
        return KeyedDecodingContainer(PatternKeyed<Key>(decoder: self))
    }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw refusal("a sequence has no fixed layout; use FixedArray")
    }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }
    func decodeNil() -> Bool { false }
    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        guard case .nothing = shape else { throw refusal("it is read in two ways") }
        let (value, layout) = try take(type, field: field)
        shape = .single(layout)
        return value
    }
}

/// The named fields of a fixed-layout type.
struct PatternKeyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: PatternDecoder
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { [] }
    func contains(_ key: Key) -> Bool { true }
    func decodeNil(forKey key: Key) throws -> Bool {
        throw decoder.refusal("an optional has no fixed layout", field: key.stringValue)
    }
    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        let (value, layout) = try decoder.take(type, field: key.stringValue)
        try decoder.add(key.stringValue, layout)
        return value
    }
    func nestedContainer<N: CodingKey>(keyedBy type: N.Type, forKey key: Key) throws -> KeyedDecodingContainer<N> {
        throw decoder.refusal("a container nested by hand; declare a structure instead", field: key.stringValue)
    }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        throw decoder.refusal("a sequence has no fixed layout; use FixedArray", field: key.stringValue)
    }
    func superDecoder() throws -> any Decoder { throw decoder.refusal("class inheritance has no D-Bus form") }
    func superDecoder(forKey key: Key) throws -> any Decoder { try superDecoder() }
}

/// The bytes that a `PatternDecoder` has given out, over all its nested types.
final class PatternRecord {
    /// The type that was to be registered.
    let root: String
    private(set) var bytes: [UInt8] = []
    private(set) var lastField = ""
    /// Numbers and arrays: a signature of 255 characters has no more than that.
    private var fields = 0

    init(root: String) { self.root = root }

    /// Nil for what is no number.
    func number<T>(_ type: T.Type, field: String) -> (T, layout: String)? {
        guard let number = LayoutNumber(type) else { return nil }
        let pattern = take(number, 1, field)
        // A number of this size, for which every byte is valid.
        return (pattern.withUnsafeBytes { $0.loadUnaligned(as: T.self) }, number.text)
    }
    func array<A: FixedLayoutArray>(_ type: A.Type, _ number: LayoutNumber, field: String) -> (A, layout: String) {
        var array = A.zeros
        let pattern = take(number, A.length, field)
        withUnsafeMutableBytes(of: &array) { $0.copyBytes(from: pattern) }  // As many: `A` is so many numbers.
        return (array, "\(number.text)*\(A.length)")
    }
    /// Begins with a byte that no other field begins with, so that two that lie in each other's place are seen. Never a
    /// NaN's bytes, nor an infinity's: the highest one of a wide number stays below 0x40.
    private func take(_ number: LayoutNumber, _ count: Int, _ field: String) -> [UInt8] {
        fields += 1
        lastField = field
        let size = number.size
        let pattern = (0..<size * count).map { index in
            let byte = index % size == 0 ? fields + index / size : (5 * fields + index) & 0x3F | 0x01
            return UInt8(truncatingIfNeeded: byte)
        }
        bytes += pattern
        return pattern
    }
}
