import CSQLite
import RelayCore

/// The write-ahead log of a service that did not end in good order, before anything is built on it.
///
/// Its last sync may have failed, or one of the main file in a checkpoint. The kernel has marked the pages clean then:
/// it reads them as they were written, and never writes them again, while later syncs succeed. SQLite finds such frames
/// sound, and would append commits behind them, or move them into the main file: a power cut would take the frames, and
/// the rest would not fit together.
///
/// So the WAL's frames are written once more, with the bytes that they have, and synced; then those pages of the main
/// file that no checkpoint will write again. Whatever a cut leaves of that is what was there before: no byte changes.
enum LeftoverLog {
    /// What is read and written at a time: SQLite's layer takes less than 128 KiB.
    private static let block = 1 << 16

    /// - Parameter path: the journal's file, beside which there is a log.
    /// - Returns: the connection that did it. As long as it is open, others need not read the log to find what is in
    ///   it.
    static func secure(_ path: String, vfs: String?) throws(SQLiteError) -> Database {
        // A connection of its own: the one that writes reads the log after this.
        let database = try Database(path, isReadOnly: false, vfs: vfs)
        database.keepLogAtClose(true)
        // In another mode there is no log yet; what SQLite has to undo then, it writes again as a whole.
        guard try database.texts("PRAGMA journal_mode").first == "wal" else { return database }
        // Keeps others from writing meanwhile. Writes nothing itself.
        try database.execute("BEGIN IMMEDIATE")
        defer { try? database.execute("ROLLBACK") }
        guard let log = FileBelow(SQLITE_FCNTL_JOURNAL_POINTER, of: database),
            let main = FileBelow(SQLITE_FCNTL_FILE_POINTER, of: database)
        else { return database }
        let (pages, size) = try rewrite(log, moved: try main.framesMoved())
        try rewrite(pages, of: size, in: main)
        return database
    }

    /// Writes the frames of the last generation again.
    ///
    /// - Parameter moved: how many frames a checkpoint has moved into the main file.
    /// - Returns: the pages that those are of, and a page's size.
    private static func rewrite(_ log: FileBelow, moved: Int) throws(SQLiteError) -> (pages: Set<Int64>, size: Int64) {
        let end = try log.size()
        var header = [UInt8](repeating: 0, count: 32)
        guard end >= Int64(header.count) else { return ([], 0) }
        try log.read(&header, at: 0)
        let size = Int64(number(header, 8))
        // SQLite takes a log with another header for an empty one.
        guard number(header, 0) & ~1 == 0x377F_0682, 512...65_536 ~= size, size & (size - 1) == 0 else {
            return ([], 0)
        }
        try log.write(header[...], at: 0)
        let generation = header[16..<24]

        let frame = Int(size) + 24
        var (pages, offset, frames) = (Set<Int64>(), Int64(header.count), 0)
        var bytes: [UInt8] = []
        while end - offset >= Int64(frame) {
            let count = min(max(1, block / frame), Int(end - offset) / frame)
            if bytes.count != count * frame { bytes = [UInt8](repeating: 0, count: count * frame) }
            try log.read(&bytes, at: offset)
            var valid = 0
            // Those behind are of a generation before. A frame that is not sound among these is written as it is.
            while valid < count, bytes[valid * frame + 8..<valid * frame + 16].elementsEqual(generation) {
                if frames < moved { pages.insert(Int64(number(bytes, valid * frame))) }
                (valid, frames) = (valid + 1, frames + 1)
            }
            try log.write(bytes[..<(valid * frame)], at: offset)
            if valid < count { break }
            offset += Int64(count * frame)
        }
        try log.sync()
        return (pages, size)
    }
    /// Writes pages again that a checkpoint has written, perhaps without a sync: it goes on behind them. There are none
    /// unless another program has kept the log's index: one that is made anew begins at the first frame.
    private static func rewrite(_ pages: Set<Int64>, of size: Int64, in main: FileBelow) throws(SQLiteError) {
        if pages.isEmpty { return }
        let end = try main.size()
        var bytes = [UInt8](repeating: 0, count: Int(size))
        for page in pages.sorted() where page > 0 && page * size <= end {
            try main.read(&bytes, at: (page - 1) * size)
            try main.write(bytes[...], at: (page - 1) * size)
        }
        try main.sync()
    }
    /// Four bytes, the first one the highest, as in all of SQLite's files.
    private static func number(_ bytes: [UInt8], _ offset: Int) -> UInt32 {
        bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }
}
