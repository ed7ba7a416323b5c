public import RelayCore

extension Notice.Kind {
    /// The journal's disk takes no writes, for another reason than a lack of room, so commits are refused; or it takes
    /// them again.
    public static let storageFailed = Self(rawValue: "StorageFailed")
    /// The write-ahead log cannot be moved into the journal's file.
    public static let checkpointFailed = Self(rawValue: "CheckpointFailed")
    /// The write-ahead log of a run that did not end in good order is missing, and with it the last commits.
    public static let logMissing = Self(rawValue: "LogMissing")
    /// The write-ahead log grows, because a reader keeps one long transaction open.
    public static let walGrows = Self(rawValue: "WalGrows")
    /// A check of the whole journal begins, ends, or finds damage.
    public static let journalCheck = Self(rawValue: "JournalCheck")
}
