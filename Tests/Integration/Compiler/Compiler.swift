import RelayTestKit
import Testing

/// The compiler, for code that imports the libraries as this build made them, from another package.
enum Compiler {
    /// The tests' programs and the modules are of one build.
    private static let flags = Task {
        let outcome = try await RunningProgram.run(
            Programs.sources + "/../../scripts/built_modules.py", [Programs.folder + "/Modules"])
        try #require(outcome.code == 0 && outcome.output.count > 2, "\(outcome)")
        return outcome.output
    }

    /// What is given comes first: its folders of modules are looked at before those of the build.
    static func run(_ arguments: [String]) async throws -> RunningProgram.Outcome {
        let language = ["-swift-version", "6", "-parse-as-library", "-package-name", "outsider"]
        return try await RunningProgram.run("swiftc", language + arguments + flags.value)
    }
}

extension RunningProgram.Outcome {
    /// What the compiler found wrong, without the code that it shows.
    var compilerErrors: String {
        let lines = (output + errors).filter { $0.contains("error:") || $0.contains("Stack dump") }
        return lines.isEmpty ? description : lines.prefix(20).joined(separator: "\n")
    }
}
