import Foundation
import RelayCore

/// How much memory a process has, in bytes.
struct Memory {
    let present: Int
    /// Since it began.
    let highest: Int

    init(of process: Int32?) throws {
        let text = try String(contentsOfFile: "/proc/\(process ?? 0)/status", encoding: .utf8)
        func value(_ key: String) throws -> Int {
            // "VmRSS:     12345 kB"
            let line = text.split(separator: "\n").first { $0.hasPrefix(key + ":") }
            let number = line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
            guard let number else { throw RelayError(.notFound, "process \(process ?? 0) has no \(key)") }
            return number << 10
        }
        (present, highest) = (try value("VmRSS"), try value("VmHWM"))
    }
}
