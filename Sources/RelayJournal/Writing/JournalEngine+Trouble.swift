import RelayCore

/// A disk that takes no writes for a while: how that is reported, and how the journal notices its end.
extension JournalEngine {
    func noteIfTrouble(_ error: SQLiteError) {
        if let trouble = StorageTrouble(error) { note(trouble) }
    }
    /// Reports it once, until it is over: each command meets it again.
    func note(_ trouble: StorageTrouble) {
        if self.trouble == trouble { return }
        self.trouble = trouble
        let need = trouble.isFull ? "until \(DiskRoom.text(ReserveFile.size)) and more are free" : "meanwhile"
        notices.report(
            trouble.isFull ? .storageFull : .storageFailed, .error,
            "\(trouble.clause(file.path)): what has to be kept is refused \(need): \(trouble.advice); the service goes on by "
                + "itself then",
            of: Notice.Subject(code: trouble.code))
    }
    /// After a commit, which shows that the disk takes writes. A reserve that was taken back from the room that it gave
    /// is none: as much must be free beside it.
    func endTrouble() {
        guard let trouble, !isStarved, !trouble.isFull || reserve.hasRoomBeside else { return }
        self.trouble = nil
        notices.report(
            trouble.isFull ? .storageFull : .storageFailed, .info,
            trouble.isFull
                ? "the disk of \(file.path) has room again" : "the file system of \(file.path) takes writes again")
    }
    /// Tries a small transaction. Each unit of work does the same by its own; a service without work, too, is to find
    /// out that it can go on.
    func probe() {
        guard let trouble, !trouble.isFull || reserve.hasRoomBeside, secureIfNeeded() == nil else { return }
        do {
            try sql.begin.run()
            readClock()
            try saveClock()
        } catch {
            rollBack()
            _ = consequence(of: error)
            return
        }
        do { try commitTransaction() } catch { return }
        endTrouble()
    }
    /// Writes the files once more, if a sync of them was refused. Returns why that cannot be.
    func secureIfNeeded() -> RelayError? {
        if !mustSecure { return nil }
        do { _ = try LeftoverLog.secure(file.path, vfs: file.vfs) } catch { return consequence(of: error) }
        mustSecure = false
        return nil
    }
}
