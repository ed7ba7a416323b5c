/// A JSON text's value. Numbers stay as they were written: an Int64 keeps all its digits.
indirect enum JSONValue: Equatable, Sendable {
    case null
    case bool(Bool)
    case number(String)
    case string(String)
    case array([JSONValue])
    /// In the order written; a key may come twice.
    case object([Member])

    struct Member: Equatable, Sendable {
        let key: String
        let value: JSONValue
    }

    /// For messages.
    var kind: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .number(let text): text
        case .string(let text): "the text '\(text)'"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
