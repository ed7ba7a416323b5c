import Foundation

/// Sends the parent a line, at once.
func say(_ line: String) {
    print(line)
    fflush(nil)
}

/// This program once more, in another role: spoken to in lines.
final class Child {
    struct Failure: Error { let message: String }
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var pending = Data()

    init(_ arguments: String...) throws {
        process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }
    deinit { end() }

    func send(_ line: String) throws { try input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8)) }
    /// Waits for the next line.
    func line() throws -> String {
        while true {
            if let newline = pending.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: pending[..<newline], as: UTF8.self)
                pending = Data(pending[pending.index(after: newline)...])
                return line
            }
            let data = output.fileHandleForReading.availableData
            if data.isEmpty { throw Failure(message: "a child ended before it said what was expected") }
            pending.append(data)
        }
    }
    /// The numbers of the next line, which begins so.
    func numbers(_ beginning: String) throws -> [UInt64] {
        let words = try line().split(separator: " ")
        guard words.first == beginning[...] else {
            throw Failure(message: "a child said '\(words.joined(separator: " "))' instead of '\(beginning)'")
        }
        return words.dropFirst().compactMap { UInt64($0) }
    }
    func end() {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
    }
}
