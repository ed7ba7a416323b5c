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
            relay-cursor 2
            service org.example.Service1
            org.example.A1 * 18446744073709551615 0 -
            org.example.B1 One,Two 7 18446744073709551615 18446744073709551615:1,7:8

            """
        #expect(text.text == lines)
        #expect(CursorText(parsing: lines) == text)
        // The first version's.
        let former = """
            relay-cursor 1
            service org.example.Service1
            org.example.A1 * 18446744073709551615 0
            org.example.B1 One,Two 7 18446744073709551615

            """
        text.places["org.example.B1"]?.runs = []
        #expect(CursorText(parsing: former) == text)
    }
    @Test(
        "what is no cursor is refused, and nothing traps",
        arguments: [
            "", "\n", "relay-cursor 1\n", "relay-cursor 1\nservice org.example.S",
            "relay-cursor 3\nservice org.example.S\n",
            "relay-cursor 2\nservice org.example.S\norg.example.A1 * 1 1\n",
            "relay-cursor 2\nservice org.example.S\norg.example.A1 * 1 1 1\n",
            "relay-cursor 2\nservice org.example.S\norg.example.A1 * 1 1 1:1,\n",
            "relay-cursor 2\nservice org.example.S\norg.example.A1 * 1 1 1:1:1\n",
            "relay-cursor 2\nservice org.example.S\norg.example.A1 * 1 1 1:-1\n",
            "relay-cursor 2\nservice org.example.S\norg.example.A1 * 1 1 "
                + Array(repeating: "1:1", count: 17).joined(separator: ",") + "\n",
            "relay-cursor 1\nservice nobody\n", "relay-cursor 1\nservice org.example.S\norg.example.A1 * 1\n",
            "relay-cursor 1\nservice org.example.S\norg.example.A1 * 1 18446744073709551616\n",
            "relay-cursor 1\nservice org.example.S\norg.example.A1 * -1 1\n",
            "relay-cursor 1\nservice org.example.S\norg.example.A1 One,,Two 1 1\n",
            "relay-cursor 1\nservice org.example.S\nA * 1 1\n",
            "relay-cursor 1\nservice org.example.S\norg.example.A1 * 1 1\norg.example.A1 * 1 2\n",
            "relay-cursor 1\nservice org.example.S\n\n", "\0\u{FFFD}\u{1F4A9}",
        ]) func garbage(_ text: String)
    { #expect(CursorText(parsing: text) == nil) }
    @Test("a file that was cut anywhere is refused, or ends at a line") func cut() {
        var text = CursorText(service: Self.service)
        text.places["org.example.A1"] = CursorPlace(names: nil, epoch: 12, sequence: 345)
        for count in 0..<text.text.count {
            let parsed = CursorText(parsing: String(text.text.prefix(count)))
            #expect(parsed == nil || parsed == CursorText(service: Self.service))
        }
    }
}
