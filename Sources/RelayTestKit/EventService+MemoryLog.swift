public import RelayCore

extension EventService {
    /// Prepares a service for a test, with a journal in memory. Nothing is on the bus before `run()`.
    ///
    /// - Parameter name: the well-known bus name.
    /// - Parameter bus: the bus to connect to.
    /// - Parameter interfaces: the interfaces to export.
    /// - Parameter older: older versions of them that are served, too: see `EventInterface.serving(_:_:)`.
    /// - Parameter journal: keeps the events of durable interfaces. It serves one service, once.
    /// - Parameter onNotice: is called with each notice of the service: see `Notice.Kind`. Calls are rare. They come
    ///   one at a time on a separate thread, so the closure may write to a log that blocks.
    /// - Throws: `.unsupportedType` for a type that D-Bus cannot carry; the message names the type, the field and the
    ///   reason. `.invalidArgument` for a bad or repeated name. `.conflict` for a log that has already served another
    ///   service. What the log throws.
    public convenience init(
        name: String, on bus: Bus = .session, exporting interfaces: any EventInterface.Type...,
        older: OlderInterface..., journal: MemoryLog, onNotice: @escaping @Sendable (Notice) -> Void = Notice.log
    ) throws {
        try self.init(name, bus, interfaces, older: older, journal: journal, onNotice)
    }
}
