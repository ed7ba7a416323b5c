import RelayTestKit
import TestTraits
import Testing

/// Pages show code that is compiled: files of Examples and of the tests, whole or in part.
@Suite("README's code", .heavy) struct ReadmeTests {
    @Test(
        "every Swift block in a page is the file, or a part of the file, that it names",
        arguments: [
            ("README.md", 3), ("docs/TOUR.md", 11), ("docs/TESTING.md", 7), ("docs/MAIN_LOOPS.md", 6),
            ("docs/FOLLOW_THEN_REPUBLISH.md", 1), ("docs/LARGE_LISTS.md", 4),
        ])
    func blocksAreFiles(_ page: String, _ count: Int) throws {
        let lines = try Programs.text(page).split(separator: "\n", omittingEmptySubsequences: false)
        let starts = lines.indices.filter { lines[$0] == "```swift" }
        #expect(starts.count == count)
        for start in starts {
            let marker = lines[start - 1]
            let isWhole = marker.hasPrefix("<!-- file: ")
            try #require(
                (isWhole || marker.hasPrefix("<!-- part: ")) && marker.hasSuffix(" -->"), "line \(start) names no file")
            let path = String(marker.dropFirst(11).dropLast(4))
            let end = try #require(lines[start...].firstIndex(of: "```"))
            let block = lines[(start + 1)..<end].joined(separator: "\n") + "\n"
            let file = try Programs.text(path)
            #expect(
                isWhole ? block == file : file.contains(block),
                "\(page): a block differs from \(path): copy it from the file")
        }
    }
}
