import Synchronization
import RelayWire

/// The documents of an interface: their states, as the entries in its stream have set them, and the properties that
/// announce them.
final class DocumentBook: EmissionListener {
    /// By the numbers of the events.
    let properties: [Int: DocumentProperty]
    private let documents = Mutex(PublishedDocuments())

    init(_ properties: [Int: DocumentProperty]) { self.properties = properties }

    /// The number of a document.
    func number(of name: String) -> Int? { properties.first { $0.value.name == name }?.key }
    var names: [String] { properties.values.map(\.name).sorted() }
    subscript(number: Int) -> PublishedDocuments.Entry? { documents.withLock { $0[number] } }
    /// A document as it is without an entry in this run, or behind a gap. In the stream's order, or before it is
    /// connected.
    func begin(_ number: Int, fields: [UInt8], sequence: UInt64, state: (any Sendable)? = nil) {
        documents.withLock { $0.begin(number, fields: fields, sequence: sequence, state: state) }
    }
    /// The state of an entry is known.
    func know(_ number: Int, _ state: any Sendable, of sequence: UInt64) {
        documents.withLock { $0.know(number, state, of: sequence) }
    }

    /// An entry of any document may be missing: no state is known until the next one.
    func skipped() { documents.withLock { $0 = PublishedDocuments() } }
    func emitted(_ index: Int, _ sequence: UInt64, _ fields: UnsafeRawBufferPointer) {
        documents.withLock { $0.enter(index, fields: Array(fields), sequence: sequence) }
    }
    /// Announces what has changed since it was announced last, as `PropertiesChanged`.
    func send(by outlets: inout StreamOutlets, of stream: PublishedStream) {
        guard var documents = documents.withLock({ $0.hasUnannounced ? $0 : nil }) else { return }
        documents.announce { number, entry in
            guard let property = properties[number] else { return true }
            return outlets.send(beside: entry.sequence, in: stream) {
                (
                    .signal(
                        path: stream.path, interface: StandardInterfaces.properties.name, member: "PropertiesChanged",
                        signature: try Signature(DocumentProperty.changeSignature)),
                    try property.change(entry.fields, of: stream.interface)
                )
            }
        }
        // Nothing was entered meanwhile, under the stream's lock; but a state may be known.
        self.documents.withLock { $0.wasAnnounced(documents) }
    }
}
