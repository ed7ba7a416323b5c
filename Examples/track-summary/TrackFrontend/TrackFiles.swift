import Glibc

/// Where files are read: a disk, or what a test puts in its place.
public protocol TrackFiles: Sendable {
    func bytes(of path: String) throws(TrackTrouble) -> [UInt8]
}

public struct TracksOnDisk: TrackFiles {
    /// What one message can carry, with room for the rest of it.
    private static let largest = (1 << 20) - 4_096

    public init() {}
    public func bytes(of path: String) throws(TrackTrouble) -> [UInt8] {
        guard let file = fopen(path, "re") else { throw TrackTrouble("\(path): \(String(cString: strerror(errno)))") }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: Self.largest + 1)
        let count = fread(&bytes, 1, bytes.count, file)
        if ferror(file) != 0 { throw TrackTrouble("\(path): \(String(cString: strerror(errno)))") }
        if count > Self.largest { throw TrackTrouble("\(path) has more than \(Self.largest) bytes") }
        return Array(bytes[..<count])
    }
}
