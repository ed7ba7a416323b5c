import Glibc
import RelayCore

/// This program once more, in another role. Ends with this value.
final class Child {
    private let process: ChildProcess
    private let output: UnsafeMutablePointer<FILE>

    /// - Parameter processors: as taskset(1) takes them. A pair on one processor would measure its time slices.
    init(_ arguments: [String], _ descriptors: [Int32], on processors: String) throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0, let output = fdopen(ends[0], "r") else { throw RelayError(.unavailable, "no pipe") }
        _ = fcntl(ends[0], F_SETFD, FD_CLOEXEC)
        self.output = output
        defer { close(ends[1]) }
        process = try ChildProcess(
            "taskset", ["-c", processors, Self.program] + arguments,
            descriptors: [(ours: ends[1], childs: 1)]
                + descriptors.enumerated().map { (ours: $1, childs: Int32($0 + 3)) })
    }
    deinit {
        process.signal(SIGKILL)
        fclose(output)
    }
    private static let program: String = {
        var bytes = [CChar](repeating: 0, count: 4_096)
        let count = readlink("/proc/self/exe", &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }()
    /// Keeps this process on one processor.
    static func pin(to processor: Int) throws {
        let run = try ChildProcess("taskset", ["-cp", "\(processor)", "\(getpid())"], descriptors: [])
        while run.exit == nil { usleep(1_000) }
    }
    func signal(_ number: Int32) { process.signal(number) }
    /// Waits for its next line.
    func line() throws -> String {
        var bytes = [CChar](repeating: 0, count: 256)
        guard fgets(&bytes, 256, output) != nil else {
            throw RelayError(.unavailable, "a receiver ended without a word")
        }
        return String(decoding: bytes.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

func say(_ text: String) {
    let line = Array((text + "\n").utf8)
    _ = write(1, line, line.count)
}
