/// The name of an enum's case, and the raw value that travels.
package struct WireCase: Hashable, Sendable {
    package enum Raw: Hashable, Sendable {
        case signed(Int64)
        /// Above what an `Int64` holds.
        case unsigned(UInt64)
        case text(String)

        /// Nil for one that no 64 bits hold.
        package init?(_ integer: some BinaryInteger) {
            if let value = Int64(exactly: integer) {
                self = .signed(value)
            } else if let value = UInt64(exactly: integer) {
                self = .unsigned(value)
            } else {
                return nil
            }
        }
    }
    package let name: String
    package let raw: Raw

    package init(_ name: String, _ raw: Raw) { (self.name, self.raw) = (name, raw) }
}

extension WireCase {
    /// An interface's description must not grow with an enum's cases.
    static let most = 256

    /// The cases of an enum with raw values, or of what arrays, optionals and dictionaries of it have as values; none
    /// for any other type.
    static func cases(of type: Any.Type) -> [WireCase] {
        if let generic = type as? any WireGenericType.Type { return cases(of: generic.element) }
        guard let type = type as? any (RawRepresentable & CaseIterable).Type else { return [] }
        return named(type)
    }
    private static func named<R: RawRepresentable & CaseIterable>(_ type: R.Type) -> [WireCase] {
        let all = type.allCases
        if all.count > most { return [] }
        let cases = all.compactMap { value -> WireCase? in
            // What only looks like an enum has a description, and no names.
            let name = String(describing: value)
            guard Mirror(reflecting: value).displayStyle == .enum, BusNames.isMember(name) else { return nil }
            return raw(value.rawValue).map { WireCase(name, $0) }
        }
        return Set(cases.map(\.name)).count == cases.count ? cases : []
    }
    private static func raw(_ value: Any) -> Raw? {
        if let text = value as? String { return .text(text) }
        return (value as? any BinaryInteger).flatMap { Raw($0) }
    }
}

extension WireCase.Raw {
    /// - Parameter quoted: how a text is written.
    func text(_ quoted: (String) -> String) -> String {
        switch self {
        case .signed(let value): "\(value)"
        case .unsigned(let value): "\(value)"
        case .text(let text): quoted(text)
        }
    }
}

/// JSON for annotations: objects of texts and integers.
enum JSONText {
    static func object(_ members: [(name: String, value: String)]) -> String {
        "{" + members.map { quoted($0.name) + ":" + $0.value }.joined(separator: ",") + "}"
    }
    /// Between quotation marks, with control characters as escapes.
    static func quoted(_ text: String) -> String { quoted(text) { $0.value < 0x20 } }
    /// - Parameter isEscaped: which characters are written as escapes, besides those that JSON needs.
    static func quoted(_ text: String, escaping isEscaped: (Unicode.Scalar) -> Bool) -> String {
        text.unicodeScalars.reduce(into: "\"") { quoted, scalar in
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case _ where isEscaped(scalar): quoted.unicodeScalars.append(contentsOf: scalar.escape)
            default: quoted.unicodeScalars.append(scalar)
            }
        } + "\""
    }
}
