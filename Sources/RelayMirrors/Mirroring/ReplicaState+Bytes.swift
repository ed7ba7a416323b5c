import RelayCore
import RelayWire

/// As it is kept in the replica's file.
extension ReplicaState {
    func write(into writer: inout WireWriter) throws(RelayError) {
        try table.write(into: &writer)
        // Sequences end far below.
        writer.uint64(position ?? .max)
        writer.uint64(bookmark?.number ?? .max)
        if let bookmark { bookmark.header.writeWhole(into: &writer) }
    }
    /// Throws for what is no state.
    init(_ reader: inout WireReader) throws {
        let table = try RunTable(&reader)
        let (position, number) = (try reader.uint64(), try reader.uint64())
        var bookmark: Bookmark?
        if number != .max { bookmark = Bookmark(number: number, header: try MirrorHeader(&reader)) }
        self.init(table: table, position: position == .max ? nil : position, bookmark: bookmark)
    }
}
