import Foundation
import RelayTestKit
import TestTraits
import Testing

/// What the compiler must refuse, so that a wrong use of the library never runs.
///
/// Each file in Tests/Refusals has to fail to compile, with the words of its `// expect:` line, and with the flags of its
/// `// flags:` line, if it has one. A file that expects `nothing` has to compile: it shows that the others fail for the
/// reason that they name.
@Suite("Wrong uses that the compiler refuses", .heavy) struct RefusalTests {
    private static let folder = Programs.sources + "/../Refusals"
    private static let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).filter {
        $0.hasSuffix(".swift")
    }.sorted()

    @Test("there are some, and right uses among them") func files() throws {
        let texts = try Self.names.map { try Programs.text("Tests/Refusals/" + $0) }
        #expect(texts.count > 40 && texts.contains { $0.hasPrefix("// expect: nothing\n") })
    }
    @Test("of the first guesses, those that are refused have a file that says what to write") func guesses() throws {
        let lines = try Programs.text("Tests/Refusals/first-guesses.swift").split(separator: "\n")
        let numbers = lines.compactMap { line in Int(line.drop { $0 == " " || $0 == "/" }.prefix { $0.isNumber }) }
        #expect(numbers == Array(1...numbers.count) && numbers.count >= 40)
        let named = lines.compactMap { $0.split(separator: " ").last }.filter { $0.hasSuffix(".swift") }
        #expect(named.count == 14 && Set(named.map(String.init)).isSubset(of: Self.names))
    }
    @Test("each is refused for the reason that it names", arguments: names) func judged(_ name: String) async throws {
        let lines = try Programs.text("Tests/Refusals/" + name).split(separator: "\n")
        func marked(_ mark: String) -> [String] {
            lines.filter { $0.hasPrefix("// \(mark): ") }.map { String($0.dropFirst(mark.count + 5)) }
        }
        let flags = marked("flags").flatMap { $0.split(separator: " ").map(String.init) }
        let expected = marked("expect")
        try #require(expected.count == 1, "one '// expect:' line")
        let outcome = try await Compiler.run(flags + ["-typecheck", "\(Self.folder)/\(name)"])
        if expected == ["nothing"] {
            #expect(outcome.code == 0, "it should compile, but: \(outcome.compilerErrors)")
        } else {
            #expect(outcome.code != 0, "it compiles; expected: \(expected[0])")
            #expect(
                (outcome.output + outcome.errors).contains { $0.contains(expected[0]) },
                "expected: \(expected[0]); found: \(outcome.compilerErrors)")
        }
    }
}
