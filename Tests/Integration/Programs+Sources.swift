import Glibc
import RelayTestKit
import Testing

extension Programs {
    /// The folder of this file, for what is not Swift.
    static var sources: String { String(#filePath.prefix(upTo: #filePath.lastIndex(of: "/") ?? #filePath.endIndex)) }

    /// A file of the repository, by its path there.
    static func text(_ path: String) throws -> String {
        let file = try #require(fopen(sources + "/../../" + path, "r"), "\(path) is not there")
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = fread(&chunk, 1, chunk.count, file), count > 0 { bytes += chunk[..<count] }
        return String(decoding: bytes, as: UTF8.self)
    }
}
