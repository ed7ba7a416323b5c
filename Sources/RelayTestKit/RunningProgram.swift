package import BusProcess
import Glibc
import RelayCore
import Synchronization

/// A program under test: its output is kept by lines, and tests wait for one. Ends with this value, or with the
/// process.
package final class RunningProgram: Sendable {
    /// What a program that ended has left.
    package struct Outcome: Sendable, CustomStringConvertible {
        package let exit: ChildProcess.Exit
        package let output: [String]
        package let errors: [String]
        package var code: Int32? { if case .code(let code) = exit { code } else { nil } }
        package var description: String {
            "\(exit)\n" + output.map { "  1> \($0)\n" }.joined() + errors.map { "  2> \($0)\n" }.joined()
        }
    }
    private struct Text {
        var output: [String] = []
        var errors: [String] = []
        var openStreams = 2
    }
    private let text: SharedText
    private let process: ChildProcess
    package let name: String

    private final class SharedText: Sendable {
        let state = Mutex(Text())
        func keepOutput(_ line: UnsafeRawBufferPointer) {
            let line = String(decoding: line, as: UTF8.self)
            state.withLock { $0.output.append(line) }
        }
        func keepError(_ line: UnsafeRawBufferPointer) {
            let line = String(decoding: line, as: UTF8.self)
            state.withLock { $0.errors.append(line) }
        }
        func streamEnded() { state.withLock { $0.openStreams -= 1 } }
    }

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - environment: replaces ours when given.
    ///   - onLine: gets the lines of the standard output instead of `output`, on a thread of the program's own.
    package init(
        _ path: String, _ arguments: [String] = [], environment: [String: String]? = nil,
        onLine: (@Sendable (UnsafeRawBufferPointer) -> Void)? = nil
    ) throws {
        let input = open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard input >= 0 else { throw RelayError(.unavailable, "no /dev/null for \(path)", cause: nil) }
        defer { close(input) }
        let output = try SystemPipe.open()
        defer { close(output.writing) }
        let errors: (reading: Int32, writing: Int32)
        do { errors = try SystemPipe.open() } catch {
            close(output.reading)
            throw error
        }
        defer { close(errors.writing) }
        name = String(path[(path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex)...])
        let text = SharedText()
        self.text = text
        do {
            process = try ChildProcess(
                path, arguments, environment: environment,
                descriptors: [(input, 0), (output.writing, 1), (errors.writing, 2)])
        } catch {
            for end in [output.reading, errors.reading] { close(end) }
            throw error
        }
        let areRead =
            LineReader.start(
                output.reading, onLine: onLine ?? { text.keepOutput($0) }, onEnd: { text.streamEnded() })
            && LineReader.start(errors.reading, onLine: { text.keepError($0) }, onEnd: { text.streamEnded() })
        if !areRead { throw RelayError(.unavailable, "no threads to read what \(path) says") }
    }

    /// Runs a program to its end.
    package static func run(_ path: String, _ arguments: [String] = [], environment: [String: String]? = nil)
        async throws -> Outcome
    {
        try await RunningProgram(path, arguments, environment: environment).outcome()
    }

    package var processID: Int32 { process.processID }
    package var exit: ChildProcess.Exit? { process.exit }
    /// What it has written so far.
    package var output: [String] { text.state.withLock { $0.output } }
    package var errors: [String] { text.state.withLock { $0.errors } }

    package func signal(_ number: Int32) { process.signal(number) }
    /// Asks it to end, and waits for that.
    package func terminate() async -> Outcome {
        process.terminate()
        return await outcome()
    }
    /// Waits until it has ended and all that it wrote has been read.
    package func outcome() async -> Outcome {
        let exit = await process.waitForExit()
        // A child of it may hold the streams open.
        _ = await eventually(within: .seconds(30)) { text.state.withLock { $0.openStreams == 0 } }
        return text.state.withLock { Outcome(exit: exit, output: $0.output, errors: $0.errors) }
    }
    /// Waits for a line of output or errors that contains this, and returns it; throws `TimedOut` with all that there
    /// was.
    @discardableResult
    package func line(
        containing part: String, count: Int = 1, within limit: Duration = .seconds(300)
    ) async throws -> String {
        // Each line is examined once: there may be many.
        var (found, looked): ([String], (output: Int, errors: Int)) = ([], (0, 0))
        _ = await eventually(within: limit) {
            let hasEnded = process.exit != nil && text.state.withLock { $0.openStreams == 0 }
            let (output, errors) = (output, errors)
            found += (output[looked.output...] + errors[looked.errors...]).filter { $0.contains(part) }
            looked = (output.count, errors.count)
            return found.count >= count || hasEnded
        }
        if found.count >= count, let last = found.last { return last }
        let said = (output.map { "1> \($0)" } + errors.map { "2> \($0)" }).suffix(40).joined(separator: "\n")
        throw RelayError(.timedOut, "\(name) did not say '\(part)' \(count) times, but:\n\(said)")
    }
}
