import TestTraits
import Testing

@testable import RelayTool

@Suite("A page of help", .tags(.g8))
struct HelpPageTests {
    @Test("is made of the declaration alone")
    func page() {
        let (one, other) = (Option(switch: "one", letter: "o", "the first"), Option(switch: "other", "the second"))
        let program = ProgramDeclaration(
            CommandDeclaration(
                "daemon", summary: "serves",
                options: [
                    one, other,
                    Option<UInt64>("number", .count(of: "things", 1...9), "how many", standard: "3"),
                    Option<[Level]>("a-long-name-for-the-levels", .list(of: .word("LEVEL")), "which", standard: "low"),
                ],
                exclusive: [ExclusiveOptions(one, other, fault: "two")],
                details: [
                    """
                    A paragraph that is filled to the width of a page, whatever the ends of its lines in the source are:
                    two.
                    """,
                    .terms(["a": "one", "bcd": "three"]), .lines("as it\n  stands"),
                ],
                examples: [Example("--number", "2", redirection: "> it", summary: "two of them")],
                exitCodes: [ExitMeaning(.ok, "success"), ExitMeaning(.usage, "wrong usage")]))
        #expect(
            HelpPage.text(of: nil, in: program) == """
                Usage: daemon [--one | --other] [--number N] [--a-long-name-for-the-levels LEVEL]

                A paragraph that is filled to the width of a page, whatever the ends of its lines in the
                source are: two.

                  a    one
                  bcd  three

                    as it
                      stands

                Options:
                  -o, --one   the first
                  --other     the second
                  --number N  how many (default: 3)
                  --a-long-name-for-the-levels LEVEL
                              which: low (the default), middle or high
                  --version   the version
                  -h, --help  this text

                Examples:
                  daemon --number 2 > it
                      two of them

                Exit codes:
                  0   success
                  64  wrong usage

                """)
        #expect(HelpPage.version(of: program) == "daemon \(Version.current)\n")
        #expect(Version.text(commit: "1a2b3c", toolchain: "Swift 6.3.1") == "0.1.0 (commit 1a2b3c, Swift 6.3.1)")
        #expect(Version.text(commit: nil, toolchain: "Swift 6.3.1") == "0.1.0 (Swift 6.3.1)")
    }

    private enum Level: String, CaseIterable { case low, middle, high }
}
