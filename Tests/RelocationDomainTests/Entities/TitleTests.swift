import RelocationDomain
import TestTraits
import Testing

@Suite("A title", .tags(.g8))
struct TitleTests {
    @Test(
        "is kept exactly as given", arguments: ["Kitchen", " two words ", "Küche", "👩‍👩‍👧‍👦", "0", "a\u{301}", "\u{202E}x"])
    func kept(text: String) { #expect(Title(text)?.text == text) }

    @Test(
        "is refused if it is blank or does not fit on one line",
        arguments: [
            "", " ", "\u{A0}\u{2003}", "\t", "a\nb", "a\r\nb", "nul\0", "esc\u{1B}[0m", "a\u{85}b", "a\u{2028}b",
            "a\u{2029}",
        ])
    func refused(text: String) { #expect(Title(text) == nil) }

    @Test("has up to 200 Unicode scalars, whatever their size")
    func length() {
        for character in ["x", "ü", "語", "🎹"] as [Character] {
            #expect(Title(String(repeating: character, count: 200)) != nil)
            #expect(Title(String(repeating: character, count: 201)) == nil)
        }
        // One character for people, 300 scalars for us.
        #expect(Title("a" + String(repeating: "\u{301}", count: 299)) == nil)
    }
}
