extension EventRelay {
    /// A cursor could not be written, for lack of room or of rights: after the next start its subscriber gets events again
    /// that it has had. Or it was found damaged, as after a power loss, and an older copy counts.
    ///
    /// An `Event` on the relay's publisher. Told once; the relay tries again every second, and tells the next failure after one
    /// that succeeded. Delivery goes on meanwhile.
    public struct CursorFailure: Event {
        /// The cursor's.
        public let name: String
        /// Why.
        public let error: RelayError
    }
}
