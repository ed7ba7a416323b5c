/// What a reader found next in its ring.
package enum RingStep: Hashable, Sendable {
    /// An event. Its payload is the reader's, until the next step.
    case record(RingRecord)
    /// An event that was too large for the ring: it is on another lane, or nowhere.
    case tooLarge(RingRecord)
    /// These were in the ring, and the writer has overwritten them before they were read.
    case lapped(ClosedRange<UInt64>)
    /// These never were in the ring.
    case absent(ClosedRange<UInt64>)
    /// Nothing for now: all that was published has been read, or the reader's `hasNews` says that a further step is due.
    case empty
    /// All has been read, and nothing follows.
    case ended
}
