public import RelayCore

/// Stands in for a journal in tests of services with durable interfaces: keeps events in memory, for as long as it lives.
///
/// Give it to `EventService(journal:)`. What it keeps survives a service, not the process: `reopened()` is what the service's
/// next run finds. It keeps everything, whatever an interface's retention is, and knows no units of work.
public final class MemoryLog: EventLog, Sendable {
    package let storage: MemoryLogStorage

    public convenience init() { self.init(MemoryLogStore()) }
    private init(_ store: MemoryLogStore) { storage = MemoryLogStorage(store) }

    public var access: EventLogAccess { EventLogAccess(storage) }

    /// The same events in a log that no service has yet. This one is closed: what is published to it throws `Unavailable`.
    public func reopened() -> MemoryLog {
        storage.close()
        return MemoryLog(storage.store)
    }
}
