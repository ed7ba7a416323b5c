import Glibc
import RelayCore  // Whose mutex it is under ThreadSanitizer.
import Synchronization

/// What a process has said, read whenever somebody asks.
final class ProcessOutput: Sendable {
    private let bytes = Mutex<[UInt8]>([])

    func lines(readingFrom descriptor: Int32) -> [String] {
        bytes.withLock { bytes in
            var chunk = [UInt8](repeating: 0, count: 4_096)
            while case let count = read(descriptor, &chunk, chunk.count), count > 0 { bytes += chunk[..<count] }
            // A line that is still being written is none yet.
            let whole = bytes.lastIndex(of: UInt8(ascii: "\n")).map { bytes[..<$0] } ?? []
            return whole.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
        }
    }
}
