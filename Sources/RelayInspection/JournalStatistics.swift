/// How much of an interface a journal keeps, at one moment.
public struct JournalStatistics: Hashable, Sendable {
    /// The last sequence that was committed, and the oldest that is kept. If no event is kept, `oldest` is `head` plus
    /// 1.
    public let head, oldest: UInt64
    /// How many events are kept.
    public let events: Int
    /// How many sequences from `oldest` to `head` the journal never had. Not 0 only in a mirror of another journal.
    public let missing: Int
    /// How many bytes their bodies have together.
    public let bytes: Int
    /// The bytes of the whole file: all interfaces, the program's own tables, and the WAL.
    public let fileBytes: Int
    /// The bytes of the WAL, whose content is moved into the main file from time to time.
    public let walBytes: Int
    /// Whether the whole file is known to be sound. False while the file is being checked after a crash.
    public let isChecked: Bool

    package init(
        head: UInt64, oldest: UInt64, events: Int, missing: Int, bytes: Int, fileBytes: Int, walBytes: Int,
        isChecked: Bool
    ) {
        self.head = head
        self.oldest = oldest
        self.events = events
        self.missing = missing
        self.bytes = bytes
        self.fileBytes = fileBytes
        self.walBytes = walBytes
        self.isChecked = isChecked
    }
}
