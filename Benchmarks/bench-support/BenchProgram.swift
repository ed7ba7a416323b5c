import Foundation

/// How a benchmark runs and ends: with 0, with 1 when a goal is missed, and else with an error's code.
public enum BenchProgram {
    /// - Parameter body: returns false when a goal is missed.
    public static func run(_ name: String, _ body: (_ words: ArraySlice<String>) throws -> Bool) {
        // A peer that died must not take the benchmark with it.
        signal(SIGPIPE, SIG_IGN)
        do { if try !body(CommandLine.arguments.dropFirst()) { exit(1) } } catch let error as BenchError {
            say("\(name): \(error.message)")
            exit(error.exitCode)
        } catch {
            say("\(name): \(error)")
            exit(1)
        }
    }
    public static func say(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }
}
