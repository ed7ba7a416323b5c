import RelayTestKit
import TestTraits
import Testing

/// README shows code that is compiled: the files of Examples, whole or in part.
@Suite("README's code", .heavy) struct ReadmeTests {
    @Test("every Swift block in README is the file, or a part of the file, that it names")
    func blocksAreFiles() throws {
        let lines = try Programs.text("README.md").split(separator: "\n", omittingEmptySubsequences: false)
        let starts = lines.indices.filter { lines[$0] == "```swift" }
        #expect(starts.count == 5)
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
                "README's block differs from \(path): copy it from the file")
        }
    }
}
