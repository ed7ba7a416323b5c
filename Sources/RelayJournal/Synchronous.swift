extension EventJournal {
    /// What a power loss can undo.
    public struct Synchronous: Hashable, Sendable {
        let pragma: String
        /// Nothing that was committed: each group of commits ends with an fsync.
        public static let full = Self(pragma: "FULL")
        /// The last transactions. Faster: the disk is synced only when the log is moved into the file.
        ///
        /// After a power loss, published events can be undone, and their sequences given to other events. Subscribers
        /// that have the undone events cannot detect that. The end of the process alone loses nothing.
        public static let normal = Self(pragma: "NORMAL")
    }
}
