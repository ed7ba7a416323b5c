extension EventJournal {
    /// What a power loss may take.
    public struct Synchronous: Hashable, Sendable {
        let pragma: String
        /// Nothing that was committed: each group of commits ends with an fsync.
        public static let full = Self(pragma: "FULL")
        /// The last transactions, which is faster: the disk is synced when the WAL is moved into the file only.
        ///
        /// After a power loss events that were published un-happen, and their sequences are given to others: subscribers that
        /// had them cannot tell. The end of the process alone loses nothing.
        public static let normal = Self(pragma: "NORMAL")
    }
}
