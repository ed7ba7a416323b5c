import Foundation

/// A process that is measured, spoken to in lines.
public final class Peer {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var buffer = Data()
    private let name: String
    private let deadline: DispatchWorkItem

    /// Where a peer's program is: beside this one.
    public static func path(of program: String) -> String {
        let own =
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
        return URL(fileURLWithPath: own).deletingLastPathComponent().appendingPathComponent(program).path
    }

    /// Starts it, and kills it after `timeout` seconds: reading then fails.
    public init(_ path: String, _ arguments: [String], timeout: Double) throws {
        name = "\(URL(fileURLWithPath: path).lastPathComponent) \(arguments.first ?? "")"
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        do { try process.run() } catch { throw BenchError(message: "cannot start \(path): \(error)") }
        let processID = process.processIdentifier
        deadline = DispatchWorkItem { kill(processID, SIGKILL) }
        DispatchQueue.global().asyncAfter(deadline: .now() + timeout, execute: deadline)
    }
    deinit {
        deadline.cancel()
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
    }

    public var processID: pid_t { process.processIdentifier }

    public func line() throws -> String {
        while true {
            if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                defer { buffer.removeSubrange(...end) }
                return String(decoding: buffer[..<end], as: UTF8.self)
            }
            let data = output.fileHandleForReading.availableData
            if data.isEmpty { throw BenchError(message: "\(name) ended, or was stopped for taking too long") }
            buffer.append(data)
        }
    }
    public func waitUntilReady() throws {
        let line = try line()
        if line != "ready" { throw BenchError(message: "\(name) said '\(line)' instead of 'ready'") }
    }
    public func go() throws { try input.fileHandleForWriting.write(contentsOf: Data("go\n".utf8)) }
    public func report<Line: Decodable>(_ type: Line.Type) throws -> Line {
        let line = try line()
        do { return try JSONDecoder().decode(type, from: Data(line.utf8)) } catch {
            throw BenchError(message: "\(name) said '\(line)': \(error)")
        }
    }
    /// Ends what runs until its input ends.
    public func end() throws {
        try input.fileHandleForWriting.close()
        try finish()
    }
    public func finish() throws {
        process.waitUntilExit()
        deadline.cancel()
        if process.terminationStatus != 0 {
            throw BenchError(message: "\(name) ended with status \(process.terminationStatus)")
        }
    }
}
