import RelayCore

/// As it is kept in the replica's file.
extension ReplicaState {
    private static let version: UInt32 = 1

    package func bytes() -> [UInt8] {
        var writer = WireWriter(capacity: 160 + table.runs.count * 16 + table.undone.count * 8)
        writer.uint32(Self.version)
        writer.uint32(UInt32(clamping: table.runs.count))
        for run in table.runs {
            writer.uint64(run.epoch)
            writer.uint64(run.first)
        }
        writer.uint64(UInt64(table.undone.count))
        for epoch in table.undone.sorted() { writer.uint64(epoch) }
        // Sequences end far below.
        writer.uint64(position ?? .max)
        writer.uint64(bookmark?.number ?? .max)
        if let bookmark { bookmark.header.writeWhole(into: &writer) }
        return writer.takeBytes()
    }
    /// Throws `WireFault` for what is no state.
    package init(_ bytes: [UInt8]) throws {
        self = try bytes.withUnsafeBytes { bytes in
            var reader = WireReader(bytes)
            return try Self(&reader)
        }
    }
    private init(_ reader: inout WireReader) throws {
        self.init()
        let version = try reader.uint32()
        guard version == Self.version else { throw WireFault(.payload("a place of version \(version)"), at: 0) }
        let runs = try Self.elements(&reader, of: 16, count: UInt64(try reader.uint32())) { reader throws(WireFault) in
            StreamRun(epoch: try reader.uint64(), first: try reader.uint64())
        }
        let undone = try Self.elements(&reader, of: 8, count: try reader.uint64()) { reader throws(WireFault) in
            try reader.uint64()
        }
        let (position, number) = (try reader.uint64(), try reader.uint64())
        var bookmark: Bookmark?
        if number != .max { bookmark = Bookmark(number: number, header: try MirrorHeader(&reader)) }
        try reader.finish()
        self.init(
            table: RunTable(runs, undone: Set(undone)), position: position == .max ? nil : position, bookmark: bookmark)
    }
    private static func elements<Element>(
        _ reader: inout WireReader, of size: Int, count: UInt64,
        _ element: (inout WireReader) throws(WireFault) -> Element
    ) throws(WireFault) -> [Element] {
        guard count <= UInt64(reader.remaining / size) else {
            throw WireFault(.payload("\(count) elements in \(reader.remaining) bytes"), at: reader.position)
        }
        var elements: [Element] = []
        for _ in 0..<count { elements.append(try element(&reader)) }
        return elements
    }
}
