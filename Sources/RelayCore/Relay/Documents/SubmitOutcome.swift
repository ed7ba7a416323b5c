/// How a submission ended: with a new version, with a conflict, with a refusal that the document declares, or with a
/// failure on the way.
///
/// A document without a `Refusal` needs no case for refusals.
package enum SubmitOutcome<Document: EditableDocument>: Equatable, Sendable {
    /// The submission was accepted, and the document has this version. If the document already had an equal state, this
    /// is the version of that state.
    case success(DocumentVersion)
    /// The document has another version than the one that the submission was based on. Nothing was changed.
    case conflict
    /// The service refused the state, in a way that the document declares. Nothing was changed.
    case refused(Document.Refusal)
    /// The call or its reply did not arrive. ``RelayError/mayHaveRun`` reports whether the state may have been set.
    case failed(RelayError)

    /// The new version, or what the throwing call throws.
    ///
    /// - Returns: the document's version after the submission.
    /// - Throws: the document's `Refusal` as it is; `.conflict`; or the error of ``failed(_:)``.
    package func get() throws -> DocumentVersion {
        switch self {
        case .success(let version): return version
        case .conflict:
            throw RelayError(
                .conflict, SubmitRefusal<Document>.conflict.message, cause: SubmitRefusal<Document>.conflict)
        case .refused(let refusal): throw refusal
        case .failed(let error): throw error
        }
    }
    /// - Parameter isRepeated: the operation may have been submitted before.
    init(_ outcome: CommandOutcome<SubmitDocument<Document>>, isRepeated: Bool) {
        switch outcome {
        case .success(let version): self = .success(version)
        case .refused(.conflict): self = .conflict
        case .refused(.forgotten) where isRepeated:
            let failure = SubmitRefusal<Document>.forgotten
            self = .failed(RelayError(.outcomeUnknown, failure.message, cause: failure, mayHaveRun: true))
        case .refused(.forgotten): self = .conflict
        case .refused(.refused(let refusal)): self = .refused(refusal)
        case .failed(let error): self = .failed(error)
        }
    }
}
