import CSQLite
import Glibc
import RelayCore
import Synchronization

/// Why commits are refused for a while, though the journal is sound and can be read: the disk takes no writes.
struct StorageTrouble: Equatable, Sendable {
    /// The kernel's reason.
    let system: SystemError

    init(_ system: SystemError) { self.system = system }
    /// nil: the error does not come from the disk.
    init?(_ error: SQLiteError) {
        if error.isFull {
            system = error.system ?? SystemError(ENOSPC)
        } else if error.isReadOnly {
            system = error.system ?? SystemError(EROFS)
        } else if error.primaryCode == SQLITE_IOERR {
            system = error.system ?? SystemError(EIO)
        } else {
            return nil
        }
    }
    /// nil: the disk did not cause the error.
    init?(causing error: RelayError) {
        if let cause = error.cause as? SQLiteError {
            self.init(cause)
        } else if let cause = error.cause as? SystemError {
            self.init(cause)
        } else {
            return nil
        }
    }
    /// A file may not grow.
    var isFull: Bool { system.isFull }
    var code: RelayError.Code { isFull ? .storageFull : .unavailable }

    /// What it is, as a clause about a file's name.
    func clause(_ path: String) -> String { system.storageClause(disk: "the disk of \(path)", file: path) }
    /// What is to be done about it.
    var advice: String { system.storageAdvice }
}

/// What is wrong with the disk at this moment: set by the journal's owner, read and observed from any thread.
final class TroubleBoard: Sendable {
    private struct State {
        var trouble: StorageTrouble?
        var observers: [@Sendable (StorageTrouble?) -> Void] = []
    }
    private let state = Mutex(State())

    var present: StorageTrouble? { state.withLock { $0.trouble } }
    func set(_ trouble: StorageTrouble?) {
        // Under the lock, so that everyone hears of the changes in their order.
        state.withLock { state in
            state.trouble = trouble
            for observer in state.observers { observer(trouble) }
        }
    }
    /// Calls back at each change, on the thread that commits; at once, if there is trouble. The closure must not use
    /// the board.
    func observe(_ body: @escaping @Sendable (StorageTrouble?) -> Void) {
        state.withLock { state in
            state.observers.append(body)
            if let trouble = state.trouble { body(trouble) }
        }
    }
}
