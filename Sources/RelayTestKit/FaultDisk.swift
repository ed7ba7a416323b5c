import CFaultVFS
import CSQLite
package import RelayJournal
import RelayCore
import Synchronization

/// A disk that fails on request, for a journal under test:
/// `EventJournal(directory:, faults: disk.faults, vfs: disk.name)`.
///
/// Switches are set from any thread, at any time. Journals on it may outlive it, until they have closed their files.
package final class FaultDisk: Sendable {
    /// What can be made to fail.
    package enum Call: UInt32, Sendable { case write, sync, truncate, open, read }
    /// What SQLite gets.
    package struct Failure: Sendable {
        let code: Int32
        /// The kernel's reason, as an errno.
        var error: Int32 = 0
        /// A write that the kernel refuses for a reason, as an errno; what SQLite makes of it.
        package static func writing(_ error: Int32) -> Self { Self(code: SQLITE_IOERR | 3 << 8, error: error) }
        /// A sync.
        package static func syncing(_ error: Int32) -> Self { Self(code: SQLITE_IOERR | 4 << 8, error: error) }
        /// The medium fails: EIO.
        package static let inputOutput = Self(code: SQLITE_IOERR)
        // Swift does not import the macros of details.
        package static let reading = Self(code: SQLITE_IOERR | 1 << 8)
        package static let writing = Self(code: SQLITE_IOERR | 3 << 8)
        package static let syncing = Self(code: SQLITE_IOERR | 4 << 8)
        /// ENOSPC.
        package static let full = Self(code: SQLITE_FULL)
        /// EROFS, of a file that SQLite opens then.
        package static let readOnly = Self(code: SQLITE_READONLY)
        /// Nothing: the process ends there, as SIGKILL ends it.
        package static let ending = Self(code: Int32(FAULT_END))
    }
    /// For SQLite.
    package let name: String
    /// Only used through its functions, which take its lock.
    private nonisolated(unsafe) let vfs: OpaquePointer
    private static let count = Atomic<Int>(0)

    package init() throws {
        name = "fault-\(Self.count.wrappingAdd(1, ordering: .relaxed).newValue)"
        guard let vfs = fault_vfs_create(name) else { throw RelayError(.unavailable, "no memory for a fault disk") }
        self.vfs = vfs
    }
    deinit { fault_vfs_destroy(vfs) }

    /// Lets calls fail: after `skipping` more of them, so many; nil for all further ones.
    ///
    /// - Parameter suffix: of the files that are meant: "-wal", ".sqlite", "temporary" for those without a name; empty for all.
    package func fail(
        _ call: Call, with failure: Failure, skipping: Int = 0, count: Int? = 1, of suffix: String = ""
    ) {
        fault_vfs_fail(
            vfs, fault_call(rawValue: call.rawValue), Int64(skipping), Int64(count ?? -1), failure.code,
            failure.error, suffix)
    }
    /// Lets calls work again.
    package func heal(_ call: Call) { fault_vfs_fail(vfs, fault_call(rawValue: call.rawValue), 0, 0, 0, 0, "") }
    /// How many calls there were.
    package func calls(_ call: Call) -> Int { Int(fault_vfs_calls(vfs, fault_call(rawValue: call.rawValue))) }

    /// By how many bytes the files together may still grow; nil: without a bound. What is cut off or deleted gives its
    /// room back.
    package var room: Int? {
        get {
            let room = fault_vfs_room(vfs)
            return room < 0 ? nil : Int(room)
        }
        set { fault_vfs_set_room(vfs, Int64(newValue ?? -1)) }
    }
    /// For the journal: its reserve file has its room on this disk too.
    package var faults: JournalFaults {
        JournalFaults(
            reserve: { [weak self] isTaken in self?.takeReserve(isTaken) ?? true },
            room: { [weak self] in self?.room ?? .max })
    }
    /// Whether the reserve has room of this disk's: what was taken before there was a bound is not given back.
    private let hasReserve = Atomic<Bool>(false)
    private func takeReserve(_ isTaken: Bool) -> Bool {
        guard let room else { return true }
        if isTaken {
            if room < Self.reserve { return false }
            self.room = room - Self.reserve
            hasReserve.store(true, ordering: .relaxed)
        } else if hasReserve.exchange(false, ordering: .relaxed) {
            self.room = room + Self.reserve
        }
        return true
    }
    private static let reserve = 1 << 20
}
