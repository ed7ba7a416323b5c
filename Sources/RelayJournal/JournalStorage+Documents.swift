import RelayCore

/// Documents that are changed in transactions of their own.
extension JournalStorage {
    func change<D: DomainDocument>(
        _ document: ExportedDocument<D>, _ body: @escaping @Sendable (DocumentDraft<D>) throws -> D
    ) async throws -> DocumentVersion {
        try await unitOfWork { unit in try unit.change(body) }
    }
    func submit<D: EditableDocument>(
        _ command: SubmitDocument<D>, from context: CommandContext, to document: ExportedDocument<D>,
        _ body: @escaping @Sendable (DocumentDraft<D>) throws -> D
    ) async throws -> DocumentVersion {
        try await answer(
            command, from: context,
            { unit in
                do {
                    return try unit.change(body)
                } catch let failure as SubmitFailure<D> {
                    guard case .conflict = failure else { throw failure }
                    throw try unit.conflict(command)
                }
            })
    }
}

extension UnitOfWork {
    mutating func change<D: DomainDocument>(_ body: (DocumentDraft<D>) throws -> D) throws -> DocumentVersion {
        try engine.set(body(engine.draft(of: D.self)))
    }
}
