public import RelayCore

extension Notice.Kind {
    /// The write-ahead log cannot be moved into the journal's file.
    public static let checkpointFailed = Self(rawValue: "CheckpointFailed")
    /// The write-ahead log grows, because a reader keeps one long transaction open.
    public static let walGrows = Self(rawValue: "WalGrows")
    /// A check of the whole journal begins, ends, or finds damage.
    public static let journalCheck = Self(rawValue: "JournalCheck")
}
