/// A document as a transaction has it: what was committed, or what the transaction has set.
package struct DocumentDraft<Document: DomainDocument>: Sendable {
    package let state: Document
    /// Of its last entry; 0: the state is the initial one.
    package let sequence: UInt64

    package init(_ state: Document, sequence: UInt64) { (self.state, self.sequence) = (state, sequence) }
}

/// The last entry of a durable document, as the log has it when a run begins.
package struct LoggedDocument: Hashable, Sendable {
    package let sequence: UInt64
    package let schema: UInt32
    /// A signal's whole body: the fields, then the stamp.
    package let body: [UInt8]

    package init(sequence: UInt64, schema: UInt32, body: [UInt8]) {
        (self.sequence, self.schema, self.body) = (sequence, schema, body)
    }
}
