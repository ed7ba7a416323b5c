/// Any text, between quotation marks on one line, as JSON has it.
enum QuotedText {
    static func quoted(_ text: String) -> String { JSONText.quoted(text) { !$0.isPlainlyVisible } }
    /// The text that begins here, and what follows its end; nil if it has none, or an unknown escape.
    static func scan(_ text: Substring) -> (text: String, rest: Substring)? {
        guard text.unicodeScalars.first == "\"" else { return nil }
        var rest = text.unicodeScalars.dropFirst()
        var (result, surrogate): (String.UnicodeScalarView, UInt16?) = (.init(), nil)
        while let scalar = rest.popFirst() {
            var unit: UInt16?
            var plain = scalar
            switch scalar {
            case "\"": return surrogate == nil ? (String(result), Substring(rest)) : nil
            case "\\":
                guard let escape = rest.popFirst() else { return nil }
                switch escape {
                case "\"", "\\": plain = escape
                case "u":
                    let digits = rest.prefix(4)
                    guard digits.count == 4, digits.allSatisfy(\.properties.isASCIIHexDigit) else { return nil }
                    unit = UInt16(String(digits), radix: 16)
                    rest = rest.dropFirst(4)
                default: return nil
                }
            default: break
            }
            guard let unit else {
                if surrogate != nil { return nil }
                result.append(plain)
                continue
            }
            if let high = surrogate {
                guard UTF16.isTrailSurrogate(unit) else { return nil }
                let value = 0x10000 + (UInt32(high) - 0xD800) << 10 + (UInt32(unit) - 0xDC00)
                guard let joined = Unicode.Scalar(value) else { return nil }
                result.append(joined)
                surrogate = nil
            } else if UTF16.isLeadSurrogate(unit) {
                surrogate = unit
            } else {
                guard let single = Unicode.Scalar(unit) else { return nil }
                result.append(single)
            }
        }
        return nil
    }
}
