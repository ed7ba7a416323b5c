import Testing

@testable import RelayTool

@Suite("Messages")
struct MessageTextTests {
    @Test("nothing in a message acts on a terminal or ends its line")
    func hostile() {
        #expect(
            MessageText.line("\u{1B}[31m\u{7}\r\n\u{9B}\u{202E}\u{2028}\u{E0041}")
                == #"\u001b[31m\u0007\u000d\u000a\u009b\u202e\u2028\udb40\udc41"#)
    }

    @Test("what is plainly visible stays")
    func plain() {
        for text in ["", "no command 'Küche'", "台所 \\ \"…\"", "👨‍👩‍👧"] { #expect(MessageText.line(text) == text) }
    }

    @Test("a long one is cut in its middle, whatever its characters cost: its end says what to do")
    func long() {
        let longest = String(repeating: "ab ", count: 1_333) + "c"
        #expect(longest.count == MessageText.longest && MessageText.line(longest) == longest)
        let end = String(repeating: "z ", count: 500)
        #expect(MessageText.line(longest + end) == longest.prefix(3_000) + "…" + end)
        // Above U+FFFF each is escaped in twelve bytes: within the 64 KiB that an empty pipe takes.
        let costly = MessageText.line(String(repeating: "\u{F0000} ", count: 1_000_000) + "remedy")
        #expect(costly.utf8.count < 65_536 && costly.hasSuffix("\\udc00 remedy"))
    }

    @Test("a value that nobody reads to its end is cut, and not what is said of it")
    func longWord() {
        let word = String(repeating: "x", count: MessageText.longestWord)
        #expect(MessageText.line("  no event \(word)  y ") == "  no event \(word)  y ")
        let value = String(repeating: "x", count: 100_000)
        #expect(
            MessageText.line("no event '\(value)'; 'list' shows what there is")
                == "no event '\(value.prefix(239))…\(value.prefix(58))'; 'list' shows what there is")
    }
}
