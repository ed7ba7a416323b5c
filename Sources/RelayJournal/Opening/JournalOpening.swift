import Glibc
import RelayCore

/// From a directory to a journal that can be written: what is examined first, and what is done only then.
struct JournalOpening {
    let file: JournalFile
    private let directory: String
    private(set) var reserve: ReserveFile
    /// Whether there was no journal before.
    private(set) var isNew = false
    /// Whether the mark of a clean end was set aside: a second attempt finds it there.
    private var isHolding = false
    private let synchronous: EventJournal.Synchronous
    /// How often a check that the start waits for looks whether the caller's task was cancelled, in nanoseconds.
    private static let patience: UInt64 = 50_000_000

    private let notices: NoticeReporter
    /// How often such a check reports that it still runs.
    private static let talk: UInt64 = 10_000_000_000

    init(
        in directory: String, as kind: JournalFile.Kind, synchronous: EventJournal.Synchronous, faults: JournalFaults,
        vfs: String?, _ notices: NoticeReporter
    ) {
        (self.notices, self.directory) = (notices, directory)
        (file, self.synchronous) = (JournalFile(in: directory, vfs: vfs, as: kind), synchronous)
        reserve = ReserveFile(in: directory, faults: faults)
    }

    /// - Returns: whether all of the file is known to be sound, beside the connection that writes.
    ///
    /// One that throws leaves the files as it found them.
    mutating func open() throws -> (database: Database, isChecked: Bool) {
        isNew = file.isAbsent
        let (hadReserve, hadLog) = (reserve.isPresent, file.hasLog)
        _ = reserve.make()
        do {
            do {
                return try attempt()
            } catch .storageFull where reserve.isThere {
                reserve.release()
                return try attempt()
            }
        } catch {
            if isNew { file.remove() }
            if !hadLog { file.removeEmptyLog() }
            if file.walSize == 0 { file.marks.restoreClean(file.path) }
            if hadReserve { _ = reserve.make() } else { reserve.release() }
            guard let error = error as? RelayError, error.code == .storageFull else { throw error }
            let reason = error.cause.map { "\($0)" } ?? error.message
            if let trouble = StorageTrouble(causing: error), trouble.system.code != ENOSPC {
                throw RelayError(
                    .storageFull,
                    "cannot open \(file.path) (\(reason)): \(trouble.clause(file.path)); nothing was done: "
                        + "\(trouble.advice), and start again", cause: error.cause)
            }
            throw RelayError(
                .storageFull,
                "cannot open \(file.path): its disk is full (\(reason)); nothing was done: free \(DiskRoom.text(Self.need)) "
                    + "there, and start again\(DiskRoom.note(at: directory))", cause: error.cause)
        }
    }
    /// A log, its index, and the first tables; twice as much.
    private static let need = 1 << 20
    private mutating func attempt() throws -> (Database, Bool) {
        let state = try file.examine()
        var isChecked = state == .new || file.walSize == 0 && file.marks.isClean(file.path, isHeld: isHolding)
        if state != .new, file.marks.finding != nil {
            try checkNow()
            isChecked = true
        }
        if state == .examined && !isHolding && file.lacksLog {
            notices.report(
                .logMissing, .error,
                "\(file.path)-wal is missing: the last run did not end in good order, and what it had committed since it last "
                    + "moved its log into the file is gone. If you have that log, end this service, restore the file as it was "
                    + "together with the log, and start again; or restore a backup")
        }
        // From here on the journal is written.
        if !isHolding { try file.marks.holdClean() }
        isHolding = true
        try file.marks.removeDamaged()
        return (try file.open(state, synchronous: synchronous), isChecked)
    }
    /// A check that found something before: the journal is served only after one that does not.
    private func checkNow() throws {
        let check = JournalCheck(file, isLive: false)
        let begin = MonotonicClock.now
        var next = begin + Self.talk
        notices.report(
            .journalCheck, .warning,
            "the last check of \(file.path) found damage: all of its \(DiskRoom.text(file.size)) are checked before the start"
        )
        try check.start()
        while true {
            let now = MonotonicClock.now
            if now >= next {
                next = now + Self.talk
                notices.report(
                    .journalCheck, .info,
                    "the check of \(file.path) has run for \((now - begin) / 1_000_000_000) seconds")
            }
            if Task.isCancelled {
                check.stop()
                throw RelayError(.cancelled, "the check of \(file.path) was cancelled: the journal is as it was")
            }
            switch check.wait(until: MonotonicClock.now + Self.patience) {
            case .sound?: return
            case .damaged(let what)?: throw file.damaged(what)
            case .failed(let error)?: throw error
            case .interrupted?, nil: break
            }
        }
    }
}
