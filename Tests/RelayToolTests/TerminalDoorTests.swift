import TestTraits
import Testing

@testable import RelayTool

@Suite("The door to a terminal", .tags(.g8))
struct TerminalDoorTests {
    private func shown(_ text: String) -> String { String(decoding: TerminalDoor.visible(text.utf8), as: UTF8.self) }

    @Test("blanks, tabs, ends of lines and what is plainly visible pass")
    func plain() {
        for text in ["", "a\tb\nc\r\n", "Küche 台所 👨‍👩‍👧 e\u{301} '\"\\", "é\r\n"] { #expect(shown(text) == text) }
    }
    @Test("whatever else would act on a terminal is shown as an escape")
    func hostile() {
        #expect(shown("\u{1B}]0;x\u{7}\r\u{0}\u{7F}") == #"\u001b]0;x\u0007\u000d\u0000\u007f"#)
        #expect(shown("é\r\r\n\u{9B}31m\u{85}") == "é\\u000d\r\n\\u009b31m\\u0085")
        #expect(shown("\u{202E}\u{2028}\u{FEFF}\u{E0041}") == #"\u202e\u2028\ufeff\udb40\udc41"#)
    }
    @Test("only bytes that no text has become ESC and CR; what is no UTF-8 is marked")
    func own() {
        let bytes =
            [TerminalDoor.carriageReturn, TerminalDoor.escape] + Array("[K\u{1B}[Ké".utf8) + [0xC3, 0x28, 0x80]
        #expect(String(decoding: TerminalDoor.visible(bytes), as: UTF8.self) == "\r\u{1B}[K\\u001b[Ké\u{FFFD}(\u{FFFD}")
        for value in 0..<UInt8(0x80) {
            let door = TerminalDoor.visible([value, UInt8(ascii: "x")])
            #expect(!door.contains { $0 < 0x20 && $0 != 0x09 && $0 != 0x0A || $0 == 0x7F })
        }
    }
}
