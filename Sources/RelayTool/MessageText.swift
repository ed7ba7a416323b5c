/// What a program writes to stderr, of which parts may come from anyone.
package enum MessageText {
    /// In characters. A pipe takes as much at once, however each is escaped; and nobody reads more.
    package static let longest = 4_000

    /// One line, without its end, in which nothing can act on a terminal. Cut where it is too long.
    package static func line(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for (index, scalar) in text.unicodeScalars.enumerated() {
            if index == longest {
                result.append("…")
                break
            }
            if scalar.isPlainlyVisible { result.append(scalar) } else { result.append(contentsOf: scalar.escape) }
        }
        return String(result)
    }
}

extension Unicode.Scalar {
    /// Whether it shows itself, and does nothing else: no cursor moved, no line ended, no text turned around.
    package var isPlainlyVisible: Bool {
        if isASCII { return value >= 0x20 && value < 0x7F }
        switch properties.generalCategory {
        case .control, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: return false
        case .format: return self == "\u{200C}" || self == "\u{200D}"  // They join letters and emoji.
        default: return true
        }
    }
    /// `\uXXXX`, in two parts above U+FFFF, as JSON has it.
    package var escape: String.UnicodeScalarView {
        var result = String.UnicodeScalarView()
        for unit in UTF16.encode(self) ?? .init() {
            let digits = String(unit, radix: 16)
            result.append(contentsOf: ("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).unicodeScalars)
        }
        return result
    }
}
