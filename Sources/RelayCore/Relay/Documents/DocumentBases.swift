import Synchronization
import RelayWire

/// States of documents as their service sent them: what submissions are based on, where the service has the document in
/// another version than this program.
///
/// A submission that is repeated with its idempotency key is based on a state that is gone at the service. So the last
/// ones of each document are kept.
final class DocumentBases: Sendable {
    struct Base: Sendable {
        let fields: [WireField]
        let body: [UInt8]
    }
    /// Of one document.
    static let limit = 4
    private let bases = Mutex<[String: [(version: DocumentVersion, base: Base)]]>([:])

    /// - Parameter document: with its interface.
    func base(of document: String, _ version: DocumentVersion) -> Base? {
        bases.withLock { $0[document]?.first { $0.version == version }?.base }
    }
    func keep(_ base: Base, of document: String, _ version: DocumentVersion) {
        bases.withLock { bases in
            var known = bases[document, default: []].filter { $0.version != version }
            if known.count == Self.limit { known.removeFirst() }
            bases[document] = known + [(version, base)]
        }
    }
}
