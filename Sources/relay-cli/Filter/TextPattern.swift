import Glibc

/// A regular expression, POSIX extended, as the C library has it; of characters, whatever the locale is.
///
/// Used by the thread that made it: the C library's matcher keeps its own lock, and nothing else is shared.
final class TextPattern: @unchecked Sendable {
    // Not changed once it is made; regexec(3) takes a lock of its own in it.
    private var expression = regex_t()

    /// The C library's compiler calls itself for each parenthesis and each part: a long pattern takes all of the stack.
    static let longest = 1_000

    /// Throws what is wrong with it, in the C library's words.
    init(_ text: String) throws(PatternFault) {
        if text.utf8.count > Self.longest {
            throw PatternFault(reason: "it has more than \(Self.longest) bytes")
        }
        let code = Self.withUTF8 { regcomp(&expression, text, REG_EXTENDED | REG_NOSUB) }
        if code == 0 { return }
        var words = [CChar](repeating: 0, count: 128)
        regerror(code, &expression, &words, words.count)
        // One that was not made has nothing to be freed, and freeing it does nothing.
        throw PatternFault(
            reason: String(decoding: words.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }
    deinit { regfree(&expression) }

    func matches(_ text: String) -> Bool { Self.withUTF8 { regexec(&expression, text, 0, nil, 0) == 0 } }

    /// For this thread, and for so long.
    private static func withUTF8(_ body: () -> Int32) -> Int32 {
        guard let locale else { return body() }
        let before = uselocale(locale)
        defer { uselocale(before) }
        return body()
    }
    // Never freed, never changed. nil where the C library has none: then a sign of the expression is a byte.
    nonisolated(unsafe) private static let locale: locale_t? = newlocale(1 << LC_CTYPE, "C.UTF-8", nil)
    private static func withUTF8(_ body: () -> Bool) -> Bool { withUTF8 { body() ? 1 : 0 } == 1 }
}

struct PatternFault: Error, Equatable {
    let reason: String
}
