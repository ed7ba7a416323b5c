extension EventJournal {
    /// Reads every page and every row of a journal, in the state of one moment, whether or not a service uses it.
    ///
    /// Nothing is written, and no service is delayed. While it reads, the service's WAL grows.
    ///
    /// - Isolation: from any thread. The calling thread reads, and waits for the disk.
    /// - Cancellation: when its task is cancelled, it throws `.cancelled`.
    /// - Parameter directory: the directory of an ``EventJournal``.
    /// - Throws: `.unavailable` for a damaged file, `.invalidArgument` for another program's file or one of a newer
    ///   version, `.notFound` if there is none, `.cancelled`.
    public static func check(directory: String) throws { _ = try JournalInspection(directory: directory).check() }
    /// Copies a journal as of one moment, checks the copy, and gives it its name when it is whole and on the disk. A
    /// service may use the journal meanwhile.
    ///
    /// ```swift
    /// try EventJournal.copy(directory: "/var/lib/printer", to: "/var/backups/printer.sqlite")
    /// ```
    ///
    /// - Isolation: from any thread. The calling thread reads and writes, and waits for the disk.
    /// - Cancellation: when its task is cancelled, it throws `.cancelled` and leaves no file behind.
    /// - Parameter directory: the directory of an ``EventJournal``.
    /// - Parameter target: the path of a file that does not exist yet. Only its user will be able to read it.
    /// - Throws: as ``check(directory:)``; `.conflict` if the file exists, `.storageFull` if there is no room. No file
    ///   is left then.
    public static func copy(directory: String, to target: String) throws {
        _ = try JournalInspection(directory: directory).copy(to: target)
    }
}
