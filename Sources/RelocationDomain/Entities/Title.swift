/// What a box or an item is called: kept exactly as it was given, if it can be shown on one line.
public struct Title: Hashable, Sendable {
    /// In Unicode scalars: one character as people see it may have any number of them.
    public static let maximumLength = 200

    public let text: String

    /// Nil if empty, only white space, over-long, or with a control character or a line separator in it.
    ///
    /// NUL is a control character: D-Bus cannot carry it.
    public init?(_ text: String) {
        // Bytes first, in constant time: hostile input may be long.
        guard text.utf8.count <= Self.maximumLength * 4, text.unicodeScalars.count <= Self.maximumLength,
            text.contains(where: { !$0.isWhitespace }), !text.unicodeScalars.contains(where: Self.breaksALine)
        else { return nil }
        self.text = text
    }

    private static func breaksALine(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
