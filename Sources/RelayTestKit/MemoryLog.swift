public import RelayCore

/// A journal in memory, for tests of services with durable interfaces.
///
/// ```swift
/// let log = MemoryLog()
/// let service = try EventService(name: name, on: bus.bus, exporting: Printing1.self, journal: log)
/// // Later, the service's next run:
/// let next = try EventService(name: name, on: bus.bus, exporting: Printing1.self, journal: log.reopened())
/// ```
///
/// A memory log survives a service, but not the process. It keeps all events, whatever an interface's retention is, and
/// has no units of work.
public final class MemoryLog: EventLog, Sendable {
    package let storage: MemoryLogStorage

    /// An empty log.
    public convenience init() { self.init(MemoryLogStore()) }
    private init(_ store: MemoryLogStore) { storage = MemoryLogStorage(store) }

    /// For `EventService(journal:)`.
    package var access: EventLogAccess { EventLogAccess(storage) }

    /// The same events in a log that no service has used yet.
    ///
    /// This log is closed: publishing to it throws `.unavailable`.
    public func reopened() -> MemoryLog {
        storage.close()
        return MemoryLog(storage.store)
    }
}
