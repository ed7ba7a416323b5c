import CSQLite

/// How much the examination of a file may take: bytes that are read, and steps of SQLite's machine, so many for each
/// byte of the file. A sound file needs far less. One whose pages refer to the same pages again and again could be read
/// for ever, and one whose values end in the same pages gives many times what it has.
final class StepBudget {
    /// What such a file is.
    static let fault = "reading it finds no end: its pages refer to the same pages again and again"
    /// Steps between two looks: one can take several values.
    private static let stride: Int32 = 100
    /// What a step counts for, in bytes.
    private static let step: Int64 = 16
    /// What a page that is in memory counts for.
    private static let page: Int64 = 4_096
    /// In bytes; and the reads that SQLite keeps from its memory of pages, as releases from 3.45 on do those of a long
    /// value's. Of one address, which a file's methods are at.
    private let reads: UnsafeMutablePointer<relay_counted_reads>
    private let isOver: () -> Bool
    /// The connection that is watched, and how many pages it had taken at the last look.
    private var watched: (database: OpaquePointer, pages: Int32)?
    /// Whether SQLite was interrupted because the budget was used up.
    var isSpent: Bool { reads.pointee.left < 0 }

    /// - Parameters:
    ///   - size: of the file and its WAL, in bytes.
    ///   - isOver: asked now and then; with true SQLite is interrupted, too.
    init(size: Int, isOver: @escaping () -> Bool = { false }) {
        reads = .allocate(capacity: 1)
        reads.initialize(to: relay_counted_reads())
        reads.pointee.left = (Int64(min(size, 1 << 50)) * 32 + 16_000_000) * Self.step
        self.isOver = isOver
    }
    deinit { reads.deallocate() }

    /// Counts what a connection does while `body` runs.
    func watch<Result>(_ database: Database, _ body: () throws -> Result) rethrows -> Result {
        watched = (database.handle, Self.pages(database.handle))
        let file = FileBelow(SQLITE_FCNTL_FILE_POINTER, of: database)
        file?.beginCounting(reads)
        // Unretained: taken back before this returns.
        sqlite3_progress_handler(
            database.handle, Self.stride,
            { context in
                guard let context else { return 0 }
                return Unmanaged<StepBudget>.fromOpaque(context).takeUnretainedValue().spend() ? 1 : 0
            }, Unmanaged.passUnretained(self).toOpaque())
        defer {
            sqlite3_progress_handler(database.handle, 0, nil, nil)
            file?.endCounting(reads)
        }
        return try body()
    }
    /// Counts the work on a text that was read, which takes far longer than reading it.
    func parse(_ text: String) { reads.pointee.left -= Int64(text.utf8.count) * Self.parsing }
    /// What a byte of a text counts for.
    private static let parsing: Int64 = 256
    private func spend() -> Bool {
        reads.pointee.left -= Int64(Self.stride) * Self.step
        if let (database, before) = watched {
            let pages = Self.pages(database)
            // SQLite counts in 31 bits.
            reads.pointee.left -= Int64((pages &- before) & .max) * Self.page
            watched = (database, pages)
        }
        return isSpent || isOver()
    }
    /// How often the connection has taken a page out of its memory.
    private static func pages(_ database: OpaquePointer) -> Int32 {
        var (count, high): (Int32, Int32) = (0, 0)
        sqlite3_db_status(database, SQLITE_DBSTATUS_CACHE_HIT, &count, &high, 0)
        return count
    }
}
