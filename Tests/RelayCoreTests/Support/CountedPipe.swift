import Glibc
import RelayTestKit

@testable import RelayCore

/// A pipe, and how many descriptors of this process are its writing end, whoever has them.
final class CountedPipe: Sendable {
    let reading: Int32
    private let name: String

    /// With the writing end, which is the caller's.
    static func make() throws -> (pipe: CountedPipe, writing: Int32) {
        let (reading, writing) = try SystemPipe.open()
        return (CountedPipe(reading), writing)
    }
    private init(_ reading: Int32) {
        self.reading = reading
        name = Self.target("/proc/self/fd/\(reading)")
    }
    deinit { close(reading) }
    private static func target(_ path: String) -> String {
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = readlink(path, &buffer, buffer.count)
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }
    /// Those besides the reading end.
    var writers: Int {
        guard let folder = opendir("/proc/self/fd") else { return -1 }
        defer { closedir(folder) }
        var count = -1
        while let entry = readdir(folder) {
            let file = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if Self.target("/proc/self/fd/\(file)") == name { count += 1 }
        }
        return count
    }
    /// The bytes that were written, and not yet read.
    var available: Int {
        var count: Int32 = 0
        return ioctl(reading, UInt(FIONREAD), &count) == 0 ? Int(count) : -1
    }
    /// What was written, once nobody has a writing end any more.
    func text() -> String {
        var (bytes, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 4_096))
        while case let count = read(reading, &buffer, buffer.count), count > 0 { bytes += buffer.prefix(count) }
        return String(decoding: bytes, as: UTF8.self)
    }
}
