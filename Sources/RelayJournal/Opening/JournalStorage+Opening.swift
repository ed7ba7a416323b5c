import RelayCore

extension JournalStorage {
    /// Opens the journal in a directory, exclusively.
    ///
    /// - Parameter replica: given for a mirror's journal, which no service's can be opened as, nor the reverse.
    convenience init(
        _ directory: String, _ synchronous: EventJournal.Synchronous, _ faults: JournalFaults, _ vfs: String?,
        _ permit: CommitPermit?, _ notices: NoticeReporter, replica: ReplicaRetention? = nil
    ) throws {
        let lock = try DirectoryLock(directory)
        let kind: JournalFile.Kind = replica == nil ? .service : .replica
        var opening = JournalOpening(
            in: directory, as: kind, synchronous: synchronous, faults: faults, vfs: vfs, notices)
        let opened: (database: Database, isChecked: Bool)
        do { opened = try opening.open() } catch {
            if opening.isNew { lock.remove() }
            throw error
        }
        do {
            let file = opening.file
            let reader = try JournalReader(file)
            let board = TroubleBoard()
            let engine = try JournalEngine(
                file: file, database: opened.database, reserve: opening.reserve, faults: faults, notices, board)
            let check = opened.isChecked ? nil : JournalCheck(file, isLive: true, begins: faults.checking)
            (engine.check, engine.isNew) = (check, opening.isNew)
            if let replica { try engine.beginReplica(replica) }
            let snapshots = SnapshotReaders(file)
            let writer = JournalWriter(engine, path: file.path, permit, snapshots)
            try reader.start()
            do {
                try writer.start(lock)
            } catch {
                reader.stop()
                throw error
            }
            self.init(writer, reader, snapshots, check, file, notices, board)
        } catch let error as SQLiteError {
            throw opening.file.refusal(error)
        }
    }
}
