public import RelayCore
public import RelayInspection

extension EventJournal {
    /// How much of an interface is kept.
    ///
    /// - Isolation: from any task. The figures are read on one of the journal's own threads, in parallel with units of
    ///   work.
    /// - Parameter interface: an interface of the service.
    /// - Returns: the figures.
    /// - Throws: `.notFound` for an interface that the journal does not keep. `.unavailable` if the file cannot be
    ///   read, or the journal is closed.
    public func statistics(of interface: any EventInterface.Type) async throws -> JournalStatistics {
        var figures: [String: UInt64] = [:]
        for (name, value) in try await storage.figures(of: interface.name) { figures[name] = value }
        func number(_ name: String) -> Int { Int(clamping: figures[name] ?? 0) }
        return JournalStatistics(
            head: figures["head"] ?? 0, oldest: figures["oldest"] ?? 0, events: number("events"),
            missing: number("missing"),
            bytes: number("bytes"),
            fileBytes: number("fileBytes"), walBytes: number("walBytes"), isChecked: figures["checked"] != 0)
    }
    /// Why the journal has stopped working; nil while it works. After a failure, restart the program.
    package var failure: RelayError? { storage.writer.failure }
}
