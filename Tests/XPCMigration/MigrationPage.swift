import Glibc
import RelayTestKit
import TestTraits
import Testing

/// docs/XPC_MIGRATION.md: its rows, sections and blocks.
struct MigrationPage {
    struct Block {
        let section: String, language: String
        /// The line above it.
        let marker: String
        let text: String
        /// The file that the marker names; nil: none.
        var file: String? {
            guard marker.hasSuffix(" -->"), isWhole || marker.hasPrefix("<!-- part: ") else { return nil }
            return String(marker.dropFirst(11).dropLast(4))
        }
        var isWhole: Bool { marker.hasPrefix("<!-- file: ") }
    }
    static let path = "docs/XPC_MIGRATION.md"
    static let tests = "Tests/XPCMigration/XPCMigrationTests.swift"
    private(set) var sections: [String] = []
    private(set) var blocks: [Block] = []
    /// The sections that the first table's rows link to.
    private(set) var linked: [String] = []

    init() throws {
        let lines = try Self.text(of: Self.path).split(separator: "\n", omittingEmptySubsequences: false)
        var start: Int?
        for (index, line) in lines.enumerated() {
            if let first = start {
                if line != "```" { continue }
                let text = lines[(first + 1)..<index].map { $0 + "\n" }.joined()
                blocks.append(
                    Block(
                        section: sections.last ?? "", language: String(lines[first].dropFirst(3)),
                        marker: String(lines[first - 1]), text: text))
                start = nil
            } else if line.hasPrefix("```") {
                start = index
            } else if line.hasPrefix("## ") {
                sections.append(String(line.dropFirst(3)))
            } else if line.hasPrefix("| [") {
                let anchor = try #require(line.split(separator: "](#").last?.split(separator: ")").first)
                linked.append(String(anchor))
            }
        }
    }
    /// As a link to a heading spells it.
    static func anchor(_ heading: String) -> String {
        String(
            heading.lowercased().compactMap { character in
                if character == " " { return "-" }
                return character.isLetter || character.isNumber || "-_".contains(character) ? character : nil
            })
    }
    /// A file of the repository.
    static func text(of path: String) throws -> String {
        let own = String(#filePath)
        let root = own.split(separator: "/Tests/XPCMigration").first.map { "/" + $0.drop { $0 == "/" } } ?? "."
        let file = try #require(fopen("\(root)/\(path)", "r"), "\(path) is not there")
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = fread(&chunk, 1, chunk.count, file), count > 0 { bytes += chunk[..<count] }
        return String(decoding: bytes, as: UTF8.self)
    }
}

@Suite("The page for those who come from XPC") struct MigrationPageTests {
    /// The sections without code.
    private static let untested: Set<String> = ["What has no counterpart", "Where to go on"]

    @Test("every Swift block is the file, or a part of the file, that it names") func blocksAreCode() throws {
        for block in try MigrationPage().blocks where block.language == "swift" {
            let path = try #require(block.file, "a block of '\(block.section)' names no file: \(block.marker)")
            let file = try MigrationPage.text(of: path)
            #expect(
                block.isWhole ? block.text == file : file.contains(block.text),
                "'\(block.section)' differs from \(path): copy it from the file")
        }
    }
    @Test(
        "every row of the table has a section, and every section a test of its name, with code that the section shows")
    func rowsAreTests() throws {
        let page = try MigrationPage()
        let tested = page.sections.filter { !Self.untested.contains($0) }
        #expect(tested.map { MigrationPage.anchor($0) } == page.linked)
        #expect(Set(page.sections).isSuperset(of: Self.untested))
        // A test's title, and everything up to the next one's.
        let tests = try MigrationPage.text(of: MigrationPage.tests).split(separator: "    @Test(\"").dropFirst()
        let bodies = Dictionary(
            uniqueKeysWithValues: tests.map { test in
                (String(test.prefix { $0 != "\"" }), String(test))
            })
        #expect(bodies.keys.sorted() == tested.sorted())
        for section in tested {
            let blocks = page.blocks.filter { $0.section == section && $0.language == "swift" }
            let body = try #require(bodies[section])
            // Of its own test, or of the service that the tests use.
            #expect(
                blocks.contains { $0.file == MigrationPage.tests && body.contains($0.text) }
                    || blocks.contains { $0.file?.hasPrefix("Tests/PrintHelper/") == true },
                "'\(section)' shows nothing of its test")
        }
    }
}
