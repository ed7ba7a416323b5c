import RelayCore

/// From a directory to a journal that can be written: what is examined first, and what is done only then.
struct JournalOpening {
    let file: JournalFile
    private(set) var reserve: ReserveFile
    private let synchronous: EventJournal.Synchronous
    /// How often a check that the start waits for looks whether the caller's task was cancelled, in nanoseconds.
    private static let patience: UInt64 = 50_000_000

    private let notices: NoticeReporter
    /// How often such a check reports that it still runs.
    private static let talk: UInt64 = 10_000_000_000

    init(
        in directory: String, synchronous: EventJournal.Synchronous, faults: JournalFaults, vfs: String?,
        _ notices: NoticeReporter
    ) {
        self.notices = notices
        (file, self.synchronous) = (JournalFile(in: directory, vfs: vfs), synchronous)
        reserve = ReserveFile(in: directory, faults: faults)
    }

    /// - Returns: whether all of the file is known to be sound, beside the connection that writes.
    mutating func open() throws -> (database: Database, isChecked: Bool) {
        _ = reserve.make()
        do {
            return try attempt()
        } catch .storageFull where reserve.isThere {
            reserve.release()
            return try attempt()
        }
    }
    private func attempt() throws -> (Database, Bool) {
        let state = try file.examine()
        var isChecked = state == .new || file.walSize == 0 && file.marks.isClean(file.path)
        if state != .new, file.marks.finding != nil {
            try checkNow()
            isChecked = true
        }
        // From here on the journal is written.
        try file.marks.removeClean()
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
            "the last check of \(file.path) found damage: all of its \(file.size >> 20) MiB are checked before the start"
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
