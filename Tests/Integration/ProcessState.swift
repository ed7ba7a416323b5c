import Foundation
import Glibc

/// What Linux says of a process.
enum ProcessState {
    /// Whether it stands still, as after SIGSTOP. A signal that was sent stops it a moment later.
    static func isStopped(_ process: Int32) -> Bool {
        guard let file = fopen("/proc/\(process)/stat", "r") else { return false }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 512)
        let count = fread(&bytes, 1, bytes.count, file)
        let text = String(decoding: bytes.prefix(count), as: UTF8.self)
        // The state follows the name, which is in parentheses.
        return text.split(separator: ")").last?.hasPrefix(" T") == true
    }
    /// Whether a signal that was sent to it waits for one of its threads to take it.
    static func isPending(_ signal: Int32, of process: Int32) -> Bool {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8) else { return false }
        let masks = text.split(separator: "\n").filter { $0.hasPrefix("ShdPnd:") || $0.hasPrefix("SigPnd:") }
        return masks.contains { line in
            let mask = line.split(separator: "\t").last.flatMap { UInt64($0, radix: 16) } ?? 0
            return mask & 1 << UInt64(signal - 1) != 0
        }
    }
}
