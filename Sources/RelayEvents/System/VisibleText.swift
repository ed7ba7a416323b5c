/// Text of others for people: what would act on a terminal, or look like something else, is shown as an escape.
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

extension Sequence where Element == Unicode.Scalar {
    /// The same text with an escape in place of each scalar that is not plainly visible.
    package var plainlyVisible: String {
        var result = String.UnicodeScalarView()
        for scalar in self {
            if scalar.isPlainlyVisible { result.append(scalar) } else { result.append(contentsOf: scalar.escape) }
        }
        return String(result)
    }
}
