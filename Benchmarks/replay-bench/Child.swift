import Foundation

/// Sends the parent a line, at once.
func say(_ line: String) {
    print(line)
    fflush(nil)
}

/// This program once more, in another role: its lines, one after the other.
final class Child {
    struct Failure: Error { let message: String }
    private let process = Process()
    private let output = Pipe()
    private var pending = Data()

    init(_ arguments: String...) throws {
        process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = arguments
        process.standardOutput = output
        try process.run()
    }
    deinit { end() }

    /// Waits for a line that begins so; returns the rest of it.
    func line(_ beginning: String) throws -> String {
        while true {
            if let newline = pending.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: pending[..<newline], as: UTF8.self)
                pending = Data(pending[pending.index(after: newline)...])
                if line.hasPrefix(beginning) { return String(line.dropFirst(beginning.count)) }
                throw Failure(message: "a child said '\(line)' instead of '\(beginning)'")
            }
            let data = output.fileHandleForReading.availableData
            if data.isEmpty { throw Failure(message: "a child ended before it said '\(beginning)'") }
            pending.append(data)
        }
    }
    var isRunning: Bool { process.isRunning }
    func end() {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
    }
}
