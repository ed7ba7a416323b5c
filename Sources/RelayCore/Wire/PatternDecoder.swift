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
