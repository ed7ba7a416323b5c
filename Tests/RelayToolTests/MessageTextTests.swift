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

    @Test("a long one is cut, whatever its characters cost")
    func long() {
        let longest = String(repeating: "x", count: MessageText.longest)
        #expect(MessageText.line(longest) == longest)
        #expect(MessageText.line(longest + "x") == longest + "…")
        // Above U+FFFF each is escaped in twelve bytes: within the 64 KiB that an empty pipe takes.
        let costly = MessageText.line(String(repeating: "\u{F0000}", count: 1_000_000))
        #expect(costly.utf8.count < 65_536 && costly.hasSuffix("\\udc00…"))
    }
}
