import TestTraits
import Testing

@testable import RelayCore

@Suite("A cursor's text", .tags(.g6)) struct CursorTextTests: CursorSuite {
    @Test("a cursor's text is read as it was written") func text() throws {
        var text = CursorText(service: Self.service)
        #expect(CursorText(parsing: text.text) == text)
        text.places["org.example.A1"] = CursorPlace(names: nil, epoch: .max, sequence: 0)
        text.places["org.example.B1"] = CursorPlace(
            names: ["Two", "One"], epoch: 7, sequence: .max,
            runs: [StreamRun(epoch: .max, first: 1), StreamRun(epoch: 7, first: 8)])
        let lines = """
            relay-cursor 3
            service org.example.Service1
            org.example.A1 * 18446744073709551615 0 -
            org.example.B1 One,Two 7 18446744073709551615 18446744073709551615:1,7:8

            """
        #expect(text.text.hasPrefix(lines))
        #expect(text.text.dropFirst(lines.count).wholeMatch(of: /checksum [0-9a-f]{16}\n/) != nil)
        #expect(CursorText(parsing: text.text) == text)
    }
    /// With the checksum that they would have.
    private static func signed(_ lines: String) -> String {
        var hash = FNV()
        hash.combine(lines)
        let digits = String(hash.value, radix: 16)
        return lines + "checksum " + String(repeating: "0", count: 16 - digits.count) + digits + "\n"
    }
    @Test("every flipped bit, every other byte and every end of a file leaves no place at all") func damaged() {
        var text = CursorText(service: Self.service)
        text.places["org.example.A1"] = CursorPlace(
            names: ["One"], epoch: 12, sequence: 345, runs: [StreamRun(epoch: 12, first: 301)])
        let whole = Array(text.text.utf8)
        for place in whole.indices {
            for byte in UInt8.min...UInt8.max where byte != whole[place] {
                var bytes = whole
                bytes[place] = byte
                #expect(CursorText(parsing: String(decoding: bytes, as: UTF8.self)) == nil, "\(byte) at \(place)")
            }
            #expect(CursorText(parsing: String(decoding: whole[..<place], as: UTF8.self)) == nil)
            #expect(CursorText(parsing: String(decoding: whole[place...], as: UTF8.self)) == nil || place == 0)
        }
        #expect(CursorText(parsing: text.text + "\n") == nil && CursorText(parsing: text.text + text.text) == nil)
    }
    @Test("a file of a version without a checksum is not believed", arguments: ["1", "2"])
    func former(_ version: String) {
        let lines =
            "relay-cursor \(version)\nservice org.example.S\norg.example.A1 * 1 1\(version == "2" ? " -" : "")\n"
        #expect(CursorText(parsing: lines) == nil && CursorText(parsing: Self.signed(lines)) == nil)
    }
    @Test(
        "what is no cursor is refused, also with a checksum that fits, and nothing traps",
        arguments: [
            "", "\n", "relay-cursor 1\n", "relay-cursor 3\nservice org.example.S",
            "relay-cursor 4\nservice org.example.S\n",
            "relay-cursor 3\nservice org.example.S\norg.example.A1 * 1 1\n",
            "relay-cursor 3\nservice org.example.S\norg.example.A1 * +1 1 -\n",
            "relay-cursor 3\nservice org.example.S\norg.example.A1 * 1 1 1\n",
            "relay-cursor 3\nservice org.example.S\norg.example.A1 * 1 1 1:1,\n",
            "relay-cursor 3\nservice org.example.S\norg.example.A1 * 1 1 1:1:1\n",
            "relay-cursor 3\nservice org.example.S\norg.example.A1 * 1 1 1:-1\n",
            "relay-cursor 3\nservice org.example.S\norg.example.A1 * 1 1 "
                + Array(repeating: "1:1", count: 33).joined(separator: ",") + "\n",
            "relay-cursor 3\nservice nobody\n", "relay-cursor 3\nservice org.example.S\norg.example.A1 * 1 -\n",
            "relay-cursor 3\nservice org.example.S\norg.example.A1 * 1 18446744073709551616 -\n",
            "relay-cursor 3\nservice org.example.S\norg.example.A1 * -1 1 -\n",
            "relay-cursor 3\nservice org.example.S\norg.example.A1 One,,Two 1 1 -\n",
            "relay-cursor 3\nservice org.example.S\nA * 1 1 -\n",
            "relay-cursor 3\nservice org.example.S\norg.example.A1 * 1 1 -\norg.example.A1 * 1 2 -\n",
            "relay-cursor 3\nservice org.example.S\n\n", "\0\u{FFFD}\u{1F4A9}",
        ]) func garbage(_ text: String)
    { #expect(CursorText(parsing: text) == nil && CursorText(parsing: Self.signed(text)) == nil) }
}
