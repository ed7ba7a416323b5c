import RelayCore

/// What a program writes to stderr, of which parts may come from anyone.
package enum MessageText {
    /// In characters. A pipe takes as much at once, however each is escaped; and nobody reads more.
    package static let longest = 4_000
    /// Of its end, which says what to do, so much is kept.
    private static let tail = 1_000
    /// A word that is longer is a value that nobody reads to its end.
    package static let longestWord = 300
    private static let wordTail = 60

    /// One line, without its end, in which nothing can act on a terminal. What is too long, a word or all of it, is cut in
    /// its middle.
    package static func line(_ text: String) -> String {
        var shortened: [Unicode.Scalar] = []
        for word in text.unicodeScalars.split(separator: " ", omittingEmptySubsequences: false) {
            if !shortened.isEmpty || word.startIndex > text.unicodeScalars.startIndex { shortened.append(" ") }
            shortened += cut(word, to: longestWord, keeping: wordTail)
        }
        return cut(shortened, to: longest, keeping: tail).plainlyVisible
    }
    private static func cut(
        _ scalars: some BidirectionalCollection<Unicode.Scalar>, to most: Int, keeping tail: Int
    ) -> [Unicode.Scalar] {
        let head = Array(scalars.prefix(most + 1))
        if head.count <= most { return head }
        return Array(head[..<(most - tail)]) + ["…"] + Array(scalars.suffix(tail))
    }
}
