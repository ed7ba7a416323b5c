import RelayCore
import RelayTestKit

/// A display without a screen, and programs that move its pointer and press its keys.
final class Desktop: Sendable {
    let display: String
    private let server: RunningProgram

    init() async throws {
        // The server chooses a number that is free, and prints it when it is ready.
        server = try RunningProgram(
            "Xvfb",
            // No key is repeated, however late it is released.
            ["-displayfd", "1", "-screen", "0", "1280x860x24", "-nolisten", "tcp", "-noreset", "-r"],
            environment: Programs.environment())
        let server = server
        guard await eventually({ !server.output.isEmpty || server.exit != nil }), let number = server.output.first
        else {
            throw RelayError(.unavailable, "Xvfb did not start:\n" + server.errors.joined(separator: "\n"))
        }
        display = ":\(number)"
    }
    /// Presses, moves and types: `xdotool`'s words.
    func act(_ words: String...) async throws {
        let outcome = try await RunningProgram.run(
            "xdotool", words, environment: Programs.environment(["DISPLAY": display]))
        if outcome.code != 0 { throw RelayError(.unavailable, "xdotool \(words.joined(separator: " ")): \(outcome)") }
    }
}
