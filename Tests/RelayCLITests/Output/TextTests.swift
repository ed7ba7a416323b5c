import Foundation
import RelayTool
import TestTraits
import Testing

@testable import relay_cli

@Suite("Text fit for terminals and JSON", .computing, .tags(.g8))
struct TextTests {
    private func quoted(_ text: String) -> String {
        var output = ByteBuffer()
        SafeText.append(quoted: text, to: &output)
        return output.text
    }

    @Test("plain text stays as it is, letters of all scripts included")
    func plain() {
        for text in ["", "Kitchen", "Küche", "台所", "👨‍👩‍👧", "a b~!'"] {
            #expect(quoted(text) == "\"\(text)\"")
            #expect(MessageText.line(text) == text)
        }
    }

    @Test(
        "what could act on a terminal, or look like something else, is escaped",
        arguments: [
            ("\u{1B}]0;owned\u{07}", #""\u001b]0;owned\u0007""#), ("a\nb\r\tc", #""a\nb\r\tc""#),
            ("\u{7F}\u{9B}31m", #""\u007f\u009b31m""#), ("\u{202E}txt.exe", #""\u202etxt.exe""#),
            ("\u{2028}\u{2029}", #""\u2028\u2029""#), ("\u{FEFF}\u{200B}\u{2066}", #""\ufeff\u200b\u2066""#),
            ("\u{E0041}", #""\udb40\udc41""#), ("\u{F0000}", #""\udb80\udc00""#),
            ("say \"hi\" \\", #""say \"hi\" \\""#),
            ("\u{00}", #""\u0000""#),
        ])
    func escaped(text: String, expected: String) {
        #expect(quoted(text) == expected)
    }

    @Test("every character of Unicode comes back from JSON as it was, and no control character is written")
    func roundTrip() throws {
        // Of the planes above the first few only the last one and one in use: the others are alike.
        for plane in TestForm.isSoak ? Array(0..<17) : [0, 1, 16] {
            var text = ""
            for value in UInt32(plane) << 16..<UInt32(plane + 1) << 16 {
                if let scalar = Unicode.Scalar(value) { text.unicodeScalars.append(scalar) }
            }
            let json = quoted(text)
            #expect(!json.utf8.contains { $0 < 0x20 || $0 == 0x7F })
            // Compared by scalars: equality of strings would forgive a changed normalisation.
            let back = try JSONDecoder().decode(String.self, from: Data(json.utf8))
            #expect(Array(back.unicodeScalars) == Array(text.unicodeScalars), "plane \(plane)")
            guard case .string(let ours) = try JSONParser.parse(json) else {
                Issue.record("not a text")
                continue
            }
            #expect(Array(ours.unicodeScalars) == Array(text.unicodeScalars), "plane \(plane)")
        }
    }

    @Test("integers at their ends")
    func integers() {
        var output = ByteBuffer()
        output.append(decimal: UInt64.max)
        output.append(byte: 0x20)
        output.append(decimal: Int64.min)
        output.append(byte: 0x20)
        output.append(decimal: UInt64(0))
        output.append(byte: 0x20)
        output.append(decimal: UInt64(42), width: 6)
        #expect(output.text == "18446744073709551615 -9223372036854775808 0 000042")
    }

    @Test(
        "colour needs a terminal, and nobody against it",
        arguments: [
            ([:], true, true, true), ([:], false, true, false), ([:], true, false, false),
            (["NO_COLOR": "1"], true, true, false), (["NO_COLOR": ""], true, true, true),
            (["TERM": "dumb"], true, true, false), (["TERM": "xterm"], true, true, true),
        ] as [([String: String], Bool, Bool, Bool)])
    func color(environment: [String: String], isTerminal: Bool, isAllowed: Bool, expected: Bool) {
        var options = GlobalOptions()
        options.allowsColor = isAllowed
        #expect(OutputStyle.choose(options, environment: environment, isTerminal: isTerminal).hasColor == expected)
        options.json = true
        #expect(!OutputStyle.choose(options, environment: environment, isTerminal: isTerminal).hasColor)
    }
}
