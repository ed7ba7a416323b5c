import CFaultVFS
package import RelayCore
import Synchronization

/// A disk whose power can be cut at any moment: `EventJournal(directory:, faults: JournalFaults(), vfs: disk.name)`.
///
/// It records what SQLite writes into one folder, and which syncs were reported as successful. `PowerCut` rebuilds from
/// that what the folder may hold after a power cut. Journals on it may outlive it, until they have closed their files.
package final class PowerCutDisk: Sendable {
    /// For SQLite.
    package let name: String
    /// Only used through its functions, which take its lock.
    fileprivate nonisolated(unsafe) let vfs: OpaquePointer
    private static let count = Atomic<Int>(0)

    package init() throws(RelayError) {
        name = "power-\(Self.count.wrappingAdd(1, ordering: .relaxed).newValue)"
        guard let vfs = power_vfs_create(name) else { throw RelayError(.unavailable, "no memory for a disk") }
        self.vfs = vfs
    }
    deinit { power_vfs_destroy(vfs) }

    /// Takes a file that exists already as safely on disk.
    package func adopt(_ path: String) throws(RelayError) {
        if !power_vfs_adopt(vfs, path) { throw RelayError(.notFound, "cannot read \(path)") }
    }
    /// How many operations were recorded: a moment to cut the power at.
    package var position: Int { Int(power_vfs_position(vfs)) }
    /// After so many more syncs one reports an I/O error, once. As on Linux, what was not on disk of that file is clean
    /// in memory from then on: it reads as before, and later syncs do not write it.
    package func failSync(after count: Int) { power_vfs_fail_sync(vfs, Int64(count)) }
    /// No sync fails that has not failed yet.
    package func healSync() { power_vfs_fail_sync(vfs, -1) }
    /// Whether the sync that `failSync` asked for has failed.
    package var hasFailed: Bool { power_vfs_has_failed(vfs) }
    /// A process with open files counts as dead: nothing of it reaches the files from now on. Close it before opening
    /// anything.
    package func kill() { power_vfs_kill(vfs) }
}

/// The moments of a recording, in order, at which the power is cut.
package struct PowerCut: ~Copyable {
    /// What becomes of that which was not synced.
    package enum Loss: UInt32, CaseIterable, Sendable {
        /// All of it is lost.
        case all
        /// Nothing is lost: the process alone was killed.
        case none
        /// Some pages, directory entries and truncations are lost.
        case pages
        /// Some sectors: pages are torn.
        case sectors
    }
    private let disk: PowerCutDisk
    private let model: OpaquePointer

    package init(of disk: PowerCutDisk) throws(RelayError) {
        guard let model = power_disk_create(disk.vfs) else { throw RelayError(.unavailable, "no memory for a disk") }
        (self.disk, self.model) = (disk, model)
    }
    deinit { power_disk_destroy(model) }

    /// Goes on to a moment: only forwards.
    package mutating func advance(to position: Int) { power_disk_advance(model, Int64(position)) }
    /// Writes what is left after a cut at this moment into a folder that has none of these files.
    package func write(losing loss: Loss, seed: UInt64, to folder: String) throws(RelayError) {
        if !power_disk_cut(model, power_loss(rawValue: loss.rawValue), seed, folder) {
            throw RelayError(.unavailable, "cannot write what is left to \(folder)")
        }
    }
}
