import RelayTestKit
import Testing

/// docs/EVOLUTION.md shows code that the tests compile and run.
@Suite("The page about changing a contract") struct EvolutionPageTests {
    @Test("every Swift block is a part of the file that it names") func blocksAreParts() throws {
        let lines = try Programs.text("docs/EVOLUTION.md").split(separator: "\n", omittingEmptySubsequences: false)
        let starts = lines.indices.filter { lines[$0] == "```swift" }
        #expect(starts.count == 6)
        for start in starts {
            let marker = lines[start - 1]
            try #require(marker.hasPrefix("<!-- part: ") && marker.hasSuffix(" -->"), "line \(start) names no file")
            let file = try Programs.text(String(marker.dropFirst(11).dropLast(4)))
            let end = try #require(lines[start...].firstIndex(of: "```"))
            let block = lines[(start + 1)..<end].joined(separator: "\n") + "\n"
            #expect(file.contains(block), "the block after line \(start) is not in the file: copy it from there")
        }
    }
}
