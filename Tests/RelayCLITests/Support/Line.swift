import RelayTool
import Testing

@testable import relay_cli

/// A command line without the program's name, as the program reads it.
enum Line {
    static func read(_ arguments: [String]) throws -> (options: GlobalOptions, verb: any Verb) {
        guard case .run(let verb, let options) = try Program.parse(arguments, at: Samples.time) else {
            throw CLIFailure(.software, "no verb to run: \(arguments)")
        }
        return (options, verb)
    }
    /// `line` has blanks between the words, and nowhere else.
    static func read(_ line: String) throws -> (options: GlobalOptions, verb: any Verb) { try read(words(line)) }
    static func verb<V: Verb>(_ line: String) throws -> V { try verb(words(line)) }
    static func verb<V: Verb>(_ arguments: [String]) throws -> V { try #require(try read(arguments).verb as? V) }
    static func options(_ line: String) throws -> GlobalOptions { try read(line).options }
    static func words(_ line: String) -> [String] { line.split(separator: " ").map(String.init) }

    /// nil: there is nothing wrong with it.
    static func refusal(_ arguments: [String]) -> CLIFailure? {
        do throws(CLIFailure) {
            _ = try Program.parse(arguments, at: Samples.time)
            return nil
        } catch { return error }
    }
}
