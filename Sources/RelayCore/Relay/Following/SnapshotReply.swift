/// A reply that contains a state and the position of the last event that the state includes.
///
/// In the service, `JournalSnapshot` reads both in one transaction.
///
/// ```swift
/// struct Reply: SnapshotReply {
///     let epoch: UInt64, sequence: UInt64
///     let orders: [Order]
/// }
/// ```
public protocol SnapshotReply: Codable, Sendable {
    /// The run that the sequence belongs to.
    var epoch: UInt64 { get }
    /// The sequence of the last event that the state includes; 0 if there was none.
    var sequence: UInt64 { get }
}

/// A query whose reply is one page of a state, for a state that can outgrow a message.
///
/// Each page has its own position, because events may happen between two pages. So a page must cover a range of ids
/// that no event can shift, and an event applies only if it is later than the page that covers its id.
/// `FollowedContents` of `Relocation` is an example.
public protocol PagedQuery<Interface>: Command where Reply: SnapshotReply, Failure == Never {
    /// The query for the next page.
    ///
    /// - Parameter page: the reply to this query.
    /// - Returns: the next query; nil after the last page.
    func next(after page: Reply) -> Self?
}
