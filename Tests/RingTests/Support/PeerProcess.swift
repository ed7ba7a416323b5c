import BusProcess
import Glibc
import RelayCore
import RelayTestKit

/// The ring's other side as a process of its own, which holds some descriptors. Ends with this value.
final class PeerProcess: Sendable {
    private let process: ChildProcess
    private let output: Int32
    private let input: Int32
    private let text = ProcessOutput()

    /// - Parameter descriptors: ours, to become 3, 4 and so on there.
    init(_ arguments: [String], _ descriptors: [Int32] = []) throws {
        var (output, input): ([Int32], [Int32]) = ([-1, -1], [-1, -1])
        guard pipe(&output) == 0, pipe(&input) == 0 else { throw RelayError(.unavailable, "no pipes") }
        for end in output + input { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(output[0], F_SETFL, O_NONBLOCK)
        defer { for end in [output[1], input[0]] { close(end) } }
        let handed = descriptors.enumerated().map { (ours: $1, childs: Int32($0 + 3)) }
        do {
            process = try ChildProcess(
                Programs.folder + "/ring-peer", arguments,
                descriptors: [(ours: input[0], childs: 0), (ours: output[1], childs: 1)] + handed)
        } catch {
            for end in [output[0], input[1]] { close(end) }
            throw error
        }
        (self.output, self.input) = (output[0], input[1])
    }
    deinit {
        process.signal(SIGKILL)
        close(output)
        close(input)
    }

    var processID: Int32 { process.processID }
    func signal(_ number: Int32) { process.signal(number) }
    func waitForExit() async -> ChildProcess.Exit { await process.waitForExit() }
    /// What it has said so far.
    var lines: [String] { text.lines(readingFrom: output) }
    /// Waits for a line that begins so; throws `TimedOut` when it ends, or says nothing of the kind.
    @discardableResult
    func line(_ start: String, within limit: Duration = .seconds(300)) async throws -> String {
        var found: String?
        _ = await eventually(within: limit) {
            let hasEnded = process.exit != nil
            found = lines.first { $0.hasPrefix(start) }
            return found != nil || hasEnded
        }
        if let found { return found }
        throw RelayError(.timedOut, "no '\(start)' but \(lines), \(String(describing: process.exit))")
    }
    /// Lets it go on that waits for a byte.
    func push() {
        var byte: UInt8 = 1
        _ = write(input, &byte, 1)
    }
}
