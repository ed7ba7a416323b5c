public import RelayCore

extension EventService {
    /// Prepares a service for a test, with a journal in memory. Nothing is on the bus before `run()`.
    ///
    /// - Parameter name: the well-known bus name.
    /// - Parameter bus: the bus to connect to.
    /// - Parameter interfaces: the interfaces to export.
    /// - Parameter journal: keeps the events of durable interfaces. It serves one service, once.
    /// - Parameter onNotice: is called with what goes wrong while the service runs: see `Notice.Kind`. Calls are few,
    ///   one at a time, on a thread of their own, so it may write to a log that blocks.
    /// - Throws: `.unsupportedType` with type, field and reason for what D-Bus cannot carry. `.invalidArgument` for a
    ///   bad or repeated name. `.conflict` for a log that has served already. What the log throws.
    public convenience init(
        name: String, on bus: Bus = .session, exporting interfaces: any EventInterface.Type..., journal: MemoryLog,
        onNotice: @escaping @Sendable (Notice) -> Void = { _ in }
    ) throws {
        try self.init(name, bus, interfaces, journal: journal, onNotice)
    }
}
