import CSQLite
import RelayCore

/// A file of a connection's, as SQLite's file layer has it open. Valid as long as the connection is.
struct FileBelow {
    private let file: UnsafeMutablePointer<sqlite3_file>
    private let methods: sqlite3_io_methods

    init?(_ kind: Int32, of database: Database) {
        var file: UnsafeMutablePointer<sqlite3_file>?
        // Has only a pointer to give, which is SQLite's own.
        guard sqlite3_file_control(database.handle, "main", kind, &file) == SQLITE_OK, let file,
            let methods = file.pointee.pMethods
        else { return nil }
        (self.file, self.methods) = (file, methods.pointee)
    }
    func size() throws(SQLiteError) -> Int64 {
        var size: Int64 = 0
        try check(methods.xFileSize(file, &size))
        return size
    }
    /// The kernel's number of the file's last failure; 0: there was none, or the layer does not know.
    var lastError: Int32 {
        var number: Int32 = 0
        _ = methods.xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &number)
        return number
    }
    /// How many frames of the log a checkpoint goes on behind, by its index; all, if there is no index to see.
    func framesMoved() throws(SQLiteError) -> Int {
        var index: UnsafeMutableRawPointer?
        // The first block of the index, as SQLite's layer has it mapped for this connection; none is made.
        try check(methods.xShmMap(file, 0, Self.indexBlock, 0, &index))
        // In the machine's byte order, behind the two copies of the header: `WalCkptInfo.nBackfill`.
        return index.map { Int($0.load(fromByteOffset: 96, as: UInt32.self)) } ?? .max
    }
    private static let indexBlock: Int32 = 32_768
    func read(_ bytes: inout [UInt8], at offset: Int64) throws(SQLiteError) {
        let count = Int32(bytes.count)
        // SQLite's layer fills the buffer, whose bounds are the array's.
        try check(bytes.withUnsafeMutableBytes { methods.xRead(file, $0.baseAddress, count, offset) })
    }
    func write(_ bytes: ArraySlice<UInt8>, at offset: Int64) throws(SQLiteError) {
        if bytes.isEmpty { return }
        // Only read, within the array's bounds.
        try check(bytes.withUnsafeBytes { methods.xWrite(file, $0.baseAddress, Int32($0.count), offset) })
    }
    /// From here on each read counts, and is refused when nothing is left: until `endCounting`, which the same `reads`
    /// belong to.
    func beginCounting(_ reads: UnsafeMutablePointer<relay_counted_reads>) { relay_begin_counting(file, reads) }
    func endCounting(_ reads: UnsafeMutablePointer<relay_counted_reads>) { relay_end_counting(file, reads) }
    /// The directory's entry too, where the layer does that for a log.
    func sync() throws(SQLiteError) { try check(methods.xSync(file, SQLITE_SYNC_NORMAL)) }

    private func check(_ code: Int32) throws(SQLiteError) {
        if code == SQLITE_OK { return }
        let number = lastError
        throw SQLiteError(
            code: code, message: sqlite3_errstr(code).map { String(cString: $0) } ?? "no message",
            system: number == 0 ? nil : SystemError(number))
    }
}
