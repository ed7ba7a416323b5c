/// A state of a service's document, with its version.
public struct VersionedState<Document: DomainDocument>: Equatable, Sendable {
    /// The whole state.
    public let state: Document
    /// The version. Base a submission of the next state on it: `EventRelay.submit(_:basedOn:idempotencyKey:timeout:)`.
    public let version: DocumentVersion

    /// A state for tests and previews. Real ones come from the service.
    ///
    /// - Parameter state: the state.
    /// - Parameter version: its version.
    public init(_ state: Document, version: DocumentVersion) { (self.state, self.version) = (state, version) }
}

/// Which of the states that arrive are news, as a value: a snapshot may repeat what is shown.
///
/// `SnapshotJoin` decides which entries apply; each of them is a whole state. What comes here is in order.
package struct ShownDocument<Document: DomainDocument>: Sendable {
    private var shown: Document?
    package init() {}
    /// Whether it is another state than the one that is shown; then it is shown.
    package mutating func shows(_ state: Document) -> Bool {
        if state == shown { return false }
        shown = state
        return true
    }
}
