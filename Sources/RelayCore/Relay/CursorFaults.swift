/// Where the writing of a cursor can be made to fail, or the process to end: for tests.
package enum CursorStep: String, Sendable, CaseIterable {
    /// Nothing has been done.
    case beforeWrite
    /// The new content is in a file of its own.
    case tempWritten
    /// It has taken the old one's place.
    case renamed
    /// A copy that is on the disk has taken the old copy's place.
    case synced
}

/// Called at each step with the cursor's name; what it throws is the step's failure.
package struct CursorFaults: Sendable {
    package let at: @Sendable (CursorStep, String) throws(RelayError) -> Void
    package init(at: @escaping @Sendable (CursorStep, String) throws(RelayError) -> Void) { self.at = at }
    package static let none = Self { _, _ throws(RelayError) in }
}
