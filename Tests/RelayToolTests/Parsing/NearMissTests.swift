import Testing

@testable import RelayTool

@Suite("Near misses")
struct NearMissTests {
    private let events = ["BoxProvisioned", "ItemProvisioned", "ItemMoved", "BoxRemoved", "ItemRemoved"]

    @Test(
        "counts edits; a swap is one",
        arguments: [
            ("", "", 0), ("", "abc", 3), ("abc", "", 3), ("abc", "abc", 0), ("abc", "abd", 1), ("abc", "acb", 1),
            ("abc", "ab", 1), ("abc", "xabc", 1), ("kitten", "sitting", 3), ("ca", "abc", 3),
        ])
    func distance(first: String, second: String, edits: Int) {
        #expect(NearMiss.distance(Array(first), Array(second)) == edits)
        #expect(NearMiss.distance(Array(second), Array(first)) == edits)
    }

    @Test("suggests what was probably meant")
    func suggestions() {
        #expect(NearMiss.hint(for: "BoxProvisoned", among: events) == "; did you mean 'BoxProvisioned'?")
        #expect(NearMiss.suggestions(for: "boxprovisioned", among: events).first == "BoxProvisioned")
        #expect(NearMiss.suggestions(for: "ItemMovde", among: events).first == "ItemMoved")
        #expect(NearMiss.suggestions(for: "BoxProv", among: events) == ["BoxProvisioned"])
    }

    @Test("suggests nothing for what is far from everything")
    func nothing() {
        #expect(NearMiss.hint(for: "Weather", among: events) == "")
        #expect(NearMiss.hint(for: "x", among: ["y", "z"]) == "")
        #expect(NearMiss.hint(for: "", among: events) == "")
        #expect(NearMiss.hint(for: "BoxProvisoned", among: [String]()) == "")
    }

    @Test("at most three names, each once, in a fixed order")
    func limits() {
        let names = ["abcdef1", "abcdef3", "abcdef2", "abcdef4", "abcdef1"]
        #expect(NearMiss.suggestions(for: "abcdef", among: names) == ["abcdef1", "abcdef2", "abcdef3"])
    }

    @Test("huge names cost a bounded time and do not trap")
    func huge() {
        let huge = String(repeating: "a", count: 1_000_000)
        #expect(NearMiss.suggestions(for: huge, among: [huge + "b"]).isEmpty == false)
    }
}
