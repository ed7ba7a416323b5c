public import RelayCore

/// How much of an interface a journal keeps, at one moment.
public struct JournalStatistics: Hashable, Sendable {
    /// The last sequence that was committed, and the oldest that is kept. If no event is kept, `oldest` is `head` plus
    /// 1.
    public let head, oldest: UInt64
    /// How many events are kept.
    public let events: Int
    /// How many sequences from `oldest` to `head` the journal never had. Not 0 only in a mirror of another journal.
    public let missing: Int
    /// How many bytes their bodies have together.
    public let bytes: Int
    /// The bytes of the whole file: all interfaces, the program's own tables, and the WAL.
    public let fileBytes: Int
    /// The bytes of the WAL, whose content is moved into the main file from time to time.
    public let walBytes: Int
    /// Whether the whole file is known to be sound. False while the file is being checked after a crash.
    public let isChecked: Bool
}

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
    public var failure: RelayError? { storage.writer.failure }
    /// Calls `body` when the journal has failed for good, or at once if it has already failed.
    ///
    /// The journal's service then ends by itself, and ``EventService/run()`` throws the reason.
    ///
    /// - Isolation: on one of the journal's own threads. Do not wait there.
    /// - Parameter body: is called once, with the reason.
    public func onFailure(_ body: @escaping @Sendable (RelayError) -> Void) { storage.onFailure(body) }
}
