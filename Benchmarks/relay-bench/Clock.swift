import Foundation

/// Nanoseconds: of the time that passes, or of a processor.
enum Clock {
    case monotonic, process

    var now: UInt64 {
        var time = timespec()
        clock_gettime(self == .monotonic ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
    /// Processor time of this process's threads of a name.
    static func ofThreads(named name: String) -> UInt64 {
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        return tasks.reduce(0) { sum, task in
            let folder = "/proc/self/task/\(task)"
            guard (try? String(contentsOfFile: "\(folder)/comm", encoding: .utf8)) == "\(name)\n",
                let times = try? String(contentsOfFile: "\(folder)/schedstat", encoding: .utf8),
                let first = times.split(separator: " ").first
            else { return sum }
            return sum + (UInt64(first) ?? 0)
        }
    }
}

extension Duration {
    var milliseconds: Int64 { components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000 }
}

/// Runs what waits on a thread of its own.
func onThread(_ body: @escaping @Sendable () -> Void) async throws {
    await withCheckedContinuation { continuation in
        let thread = Thread {
            body()
            continuation.resume()
        }
        thread.start()
    }
}
