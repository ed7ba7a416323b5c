/// What a service needs of its log, and nobody else.
public struct EventLogAccess: Sendable {
    package let storage: any EventLogStorage
    package init(_ storage: any EventLogStorage) { self.storage = storage }
}
