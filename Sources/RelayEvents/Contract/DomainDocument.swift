/// A state that a service holds for other processes. Each of them receives the present state, then every change.
///
/// Its stored properties are the fields of a D-Bus property of its interface. Each change is an entry in the
/// interface's stream. An entry contains the whole new state: at most 1 MiB less 4 KiB. For a state that can outgrow
/// this limit, use events and a query that returns pages.
///
/// ```swift
/// struct PrinterState: DomainDocument {
///     typealias Interface = Printing1
///     var title: String?, pagesLeft: Int32
///     static let initial = Self(title: nil, pagesLeft: 0)
/// }
/// ```
///
/// The contract lists a document by its type, even in an ``EnumInterface``, whose cases are events only. Only the
/// service sets a document, unless it is an ``EditableDocument``, which other processes can change, too.
public protocol DomainDocument<Interface>: StreamEntry, Equatable {
    /// The state before the document is set for the first time. Its version has the sequence 0.
    static var initial: Self { get }
}

/// A document that other processes may change. Each submission names the version that it is based on.
///
/// A submission that is based on an earlier version than the present one is refused as a conflict. The service sets any
/// other submission unless its handler refuses it.
///
/// ```swift
/// struct PrinterSettings: EditableDocument {
///     typealias Interface = Printing1
///     var tray: Int32, isDuplex: Bool
///     static let initial = Self(tray: 1, isDuplex: false)
///     enum Refusal: String, CommandRefusal, CaseIterable { case noSuchTray = "NoSuchTray" }
/// }
/// ```
public protocol EditableDocument<Interface>: DomainDocument {
    /// The refusals that the service declares. Leave it out if there are none.
    associatedtype Refusal: CommandRefusal = Never
    /// Not for refusals, which are declared as `Refusal`: a nested type of this name does not compile.
    associatedtype Failure = Never where Failure == Never
    /// Which peers may submit. Defaults to the interface's requirement.
    static var submitRequirement: PeerRequirement { get }
}

extension EditableDocument {
    public static var submitRequirement: PeerRequirement { Interface.requirement }
}

/// Identifies one state of a document, by the position of the entry that set it.
public struct DocumentVersion: Codable, Hashable, Sendable {
    /// A run of the service in which the document had this state.
    public let epoch: UInt64
    /// The sequence of the entry that set the state; 0 for the initial state.
    public let sequence: UInt64

    /// A version.
    ///
    /// - Parameter epoch: the run.
    /// - Parameter sequence: the entry's sequence.
    public init(epoch: UInt64, sequence: UInt64) { (self.epoch, self.sequence) = (epoch, sequence) }
}

/// Why a submission was not accepted. Nothing was changed.
package enum SubmitRefusal<Document: EditableDocument>: CommandRefusal {
    /// The document has another version than the one that the submission is based on.
    case conflict
    /// A conflict, too, but the service has forgotten the operations of that time. So a repeated submission may have
    /// been applied before. It is not applied again.
    case forgotten
    /// The service's handler refused the state.
    case refused(Document.Refusal)

    package var errorName: String {
        switch self {
        case .conflict: "Conflict"
        case .forgotten: "Forgotten"
        case .refused(let refusal): refusal.errorName
        }
    }
    package var message: String {
        switch self {
        case .conflict: "\(Document.name) has been changed since: submit a state that is based on the present one"
        case .forgotten:
            "\(Document.name) has been changed since, and operations of that time are forgotten: if this one was submitted "
                + "before, look whether it was applied; if not, submit a state that is based on the present one"
        case .refused(let refusal): refusal.message
        }
    }
    package init?(errorName: String, message: String) {
        if errorName == "Conflict" {
            self = .conflict
        } else if errorName == "Forgotten" {
            self = .forgotten
        } else if let refusal = Document.Refusal(errorName: errorName, message: message) {
            self = .refused(refusal)
        } else {
            return nil
        }
    }
}

/// Where domain code sets documents: a unit of work in the service, a recording double in a test.
public protocol DocumentSink: ~Copyable {
    /// Sets a document. A state that is equal to the present one changes nothing.
    ///
    /// - Parameter state: the whole new state.
    /// - Throws: the reason if it cannot be set.
    mutating func set<Document: DomainDocument>(_ state: Document) throws
}

/// A command that submits a document's state, whatever the document is.
package protocol DocumentSubmission {}

extension About {
    /// Of the command that submits a document.
    package static func submitting(_ document: String) -> Self {
        Self(
            "Sets \(document), if it still has the version that the new state is based on; replies with the version "
                + "that it has then.",
            fields: [
                "state": "the whole new state", "epoch": "of the version that it is based on",
                "sequence": "of the version that it is based on; 0: the initial state",
                "idempotencyKey": "identifies the operation: a repetition changes nothing",
            ])
    }
}

/// The command by which other processes change a document: on the bus, the method `Submit` with the document's name
/// behind it.
///
/// A repeated idempotency key is answered with the first reply.
package struct SubmitDocument<Document: EditableDocument>: IdempotentCommand, DocumentSubmission {
    package typealias Interface = Document.Interface
    package typealias Reply = DocumentVersion
    package typealias Refusal = SubmitRefusal<Document>
    package static var name: String { "Submit\(Document.name)" }
    package static var requirement: PeerRequirement { Document.submitRequirement }
    package static var about: About { .submitting(Document.name) }
    package let state: Document
    package let epoch: UInt64
    package let sequence: UInt64
    package let idempotencyKey: String?

    package init(_ state: Document, basedOn version: DocumentVersion, idempotencyKey: String?) {
        (self.state, epoch, sequence) = (state, version.epoch, version.sequence)
        self.idempotencyKey = idempotencyKey
    }
    package var basis: DocumentVersion { DocumentVersion(epoch: epoch, sequence: sequence) }
}
