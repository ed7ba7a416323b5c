/// A transaction of a log, for code of the service's own. Only within it, and on its thread.
package protocol LogUnit {
    /// What the transaction has set documents to.
    var drafts: DocumentDrafts { get nonmutating set }
    /// Adds an event, which leaves after the commit. Returns the sequence that it will have; nil for one of a volatile
    /// interface, which gets it then.
    func publish(_ event: EncodedEvent) throws -> UInt64?
    /// Looks for the newest run that a subscriber and an interface's log have in common.
    func find(_ question: RunQuestion, in interface: String) throws -> CommonRun?
    /// The highest sequence among the replies to a command that are no longer kept; 0: there are none.
    func forgotten(_ command: String, of interface: String) throws -> UInt64
}

/// Which states documents have in a transaction, before it is committed, as a value.
package struct DocumentDrafts: Sendable {
    private struct Draft {
        let state: any Sendable
        let sequence: UInt64
    }
    /// Of the units that have ended, and of the one that runs.
    private var kept: [ObjectIdentifier: Draft] = [:]
    private var unit: [ObjectIdentifier: Draft] = [:]

    package init() {}
    /// nil: the transaction has not set it.
    func draft<D: DomainDocument>(of type: D.Type) -> DocumentDraft<D>? {
        guard let draft = unit[ObjectIdentifier(type)] ?? kept[ObjectIdentifier(type)], let state = draft.state as? D
        else { return nil }
        return DocumentDraft(state, sequence: draft.sequence)
    }
    mutating func set<D: DomainDocument>(_ state: D, sequence: UInt64) {
        unit[ObjectIdentifier(D.self)] = Draft(state: state, sequence: sequence)
    }
    package mutating func keepUnit() {
        if !unit.isEmpty { kept.merge(unit) { $1 } }
    }
    package mutating func dropUnit() {
        if !unit.isEmpty { unit = [:] }
    }
    /// Committed, and entered in the stream; or rolled back.
    package mutating func end() {
        if !kept.isEmpty { kept = [:] }
    }
}
