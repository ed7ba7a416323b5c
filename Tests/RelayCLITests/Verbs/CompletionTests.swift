import RelayTool
import TestTraits
import Testing

@testable import relay_cli

@Suite("The verb completion", .tags(.g8)) struct CompletionTests {
    private func parse(_ words: String...) throws(UsageError) -> Completion.Wanted? {
        guard case .run(_, let line) = try Program.declaration.parse(["completion"] + words) else { return nil }
        return try Completion(line, at: .ofProcess()).wanted
    }
    private func refusal(_ words: String...) -> String? {
        do throws(UsageError) {
            guard case .run(_, let line) = try Program.declaration.parse(["completion"] + words) else { return nil }
            _ = try Completion(line, at: .ofProcess())
            return nil
        } catch { return error.message }
    }

    @Test("takes a shell, or asks for names") func parsing() throws {
        #expect(try parse("zsh") == .script(.zsh))
        #expect(try parse("--names", "events") == .names(.events, command: nil))
        #expect(try parse("--names", "fields", "OrderBox") == .names(.fields, command: "OrderBox"))
        #expect(refusal() == "'completion' needs a shell; there are bash, zsh and fish")
        #expect(refusal("csh") == "no shell 'csh'; did you mean 'zsh'?")
        #expect(refusal("--names", "fields") == "'--names fields' needs a command's name")
        #expect(
            refusal("--names", "boxes")
                == "option '--names': 'boxes' is no names; there are events, commands and fields")
    }

    @Test("every verb is completed, and its options; nothing is listed by hand")
    func everything() {
        for shell in CompletionScript.Shell.allCases {
            let text = CompletionScript.text(for: shell, of: Program.declaration, names: Completion.asked)
            for verb in Program.declaration.verbs {
                #expect(text.contains(verb.name))
                for option in verb.options { #expect(text.contains(option.name), "\(shell): \(option.name)") }
            }
        }
    }
}
