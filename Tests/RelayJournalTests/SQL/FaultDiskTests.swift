import CSQLite
import RelayTestKit
import TestTraits
import Testing

@testable import RelayJournal

@Suite("A disk for tests") struct FaultDiskTests {
    /// A journal's connections are closed on threads of their own, after a test has let go of its disk.
    @Test("stays for the files that are open on it, and can no longer be opened by its name") func outlived() throws {
        let folder = try TestFolder()
        let path = folder.path + "/a.sqlite"
        try folder.write("", to: "a.sqlite")
        var disk: FaultDisk? = try FaultDisk()
        let name = try #require(disk?.name)
        let database = try Database(path, isReadOnly: false, vfs: name)
        try database.execute("PRAGMA journal_mode = WAL; CREATE TABLE a (b INTEGER) STRICT")
        disk?.fail(.sync, with: .syncing, count: nil)
        disk = nil
        #expect(sqlite3_vfs_find(name) == nil)
        let insert = "PRAGMA synchronous = FULL; INSERT INTO a VALUES (1)"
        #expect(throws: SQLiteError.self) { try database.execute(insert) }
    }
}
