import Glibc
import RelayTestKit
import Testing

/// README shows code that is compiled: the files of Examples, whole.
@Suite struct ReadmeTests {
    private func text(_ path: String) throws -> String {
        let file = try #require(fopen(Programs.sources + "/../../" + path, "r"), "\(path) is not there")
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = fread(&chunk, 1, chunk.count, file), count > 0 { bytes += chunk[..<count] }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("every Swift block in README is the file that it names")
    func blocksAreFiles() throws {
        let lines = try text("README.md").split(separator: "\n", omittingEmptySubsequences: false)
        let starts = lines.indices.filter { lines[$0] == "```swift" }
        #expect(starts.count == 3)
        for start in starts {
            let marker = lines[start - 1]
            try #require(marker.hasPrefix("<!-- file: ") && marker.hasSuffix(" -->"), "line \(start) names no file")
            let path = String(marker.dropFirst(11).dropLast(4))
            let end = try #require(lines[start...].firstIndex(of: "```"))
            let block = lines[(start + 1)..<end].joined(separator: "\n") + "\n"
            #expect(try block == text(path), "README's block differs from \(path): copy the file into it")
        }
    }
}
