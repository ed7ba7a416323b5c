/// A durable log of events, for `EventService(journal:)`: `EventJournal` of RelayJournal is one.
public protocol EventLog: AnyObject, Sendable {
    /// The service's way in.
    var access: EventLogAccess { get }
}
