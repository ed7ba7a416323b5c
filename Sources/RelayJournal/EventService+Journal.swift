public import RelayCore
public import RelayWire

extension EventService {
    /// Prepares a service with a journal. Nothing is on the bus before `run()`.
    ///
    /// - Parameter name: the well-known bus name.
    /// - Parameter bus: the bus to connect to.
    /// - Parameter interfaces: the interfaces to export.
    /// - Parameter older: older versions of them that are served, too: see `EventInterface.serving(_:_:)`.
    /// - Parameter journal: keeps the events of durable interfaces. From now on its units of work can publish this
    ///   service's events. A journal serves one service, once.
    /// - Parameter admitted: the requirement that every peer must meet, in addition to those of the contracts.
    /// - Parameter onNotice: is called with each notice of the service: see `Notice.Kind`. Calls are rare. They come
    ///   one at a time on a separate thread, so the closure may write to a log that blocks.
    /// - Throws: `.unsupportedType` for a type that D-Bus cannot carry; the message names the type, the field and the
    ///   reason. `.invalidArgument` for a bad or repeated name. `.conflict` for a journal that has already served
    ///   another service. What the journal throws.
    public convenience init(
        name: String, on bus: Bus = .session, exporting interfaces: any EventInterface.Type...,
        older: OlderInterface..., journal: EventJournal, admitting admitted: PeerRequirement = .anyone,
        onNotice: @escaping @Sendable (Notice) -> Void = Notice.log
    ) throws {
        try self.init(
            name: name, on: bus, exporting: interfaces, older: older, journal: journal, admitting: admitted,
            onNotice: onNotice)
    }
    /// Prepares a service with a journal and with interfaces that are chosen at run time.
    ///
    /// - Parameter name: the well-known bus name.
    /// - Parameter bus: the bus to connect to.
    /// - Parameter interfaces: the interfaces to export.
    /// - Parameter older: older versions of them that are served, too.
    /// - Parameter journal: keeps the events of durable interfaces, as in the initialiser that takes single interfaces.
    /// - Parameter admitted: the requirement that every peer must meet, in addition to those of the contracts.
    /// - Parameter onNotice: is called with each notice of the service: see `Notice.Kind`.
    /// - Throws: as the initialiser that takes single interfaces.
    public convenience init(
        name: String, on bus: Bus = .session, exporting interfaces: [any EventInterface.Type],
        older: [OlderInterface] = [], journal: EventJournal, admitting admitted: PeerRequirement = .anyone,
        onNotice: @escaping @Sendable (Notice) -> Void = Notice.log
    ) throws {
        try self.init(name, bus, interfaces, older: older, journal: journal, admitting: admitted, onNotice)
    }
    /// Prepares a service with a journal and with interfaces that are known by the texts of their contracts.
    ///
    /// - Parameter name: the well-known bus name.
    /// - Parameter bus: the bus to connect to.
    /// - Parameter interfaces: the interfaces to export.
    /// - Parameter journal: keeps the events of durable interfaces.
    /// - Parameter admitted: the requirement that every peer must meet, in addition to those of the contracts.
    /// - Parameter onNotice: is called with each notice of the service: see `Notice.Kind`.
    /// - Throws: `.invalidArgument` for a contract that no service can have. `.unsupportedType` for an event that no
    ///   signal can carry. What the journal throws.
    public convenience init(
        name: String, on bus: Bus = .session, exporting interfaces: UntypedInterface..., journal: EventJournal,
        admitting admitted: PeerRequirement = .anyone, onNotice: @escaping @Sendable (Notice) -> Void = Notice.log
    ) throws {
        try self.init(
            name, bus, untyped: interfaces, journal: journal, admitting: admitted, readOnly: "\(name) publishes only",
            onNotice)
    }
}
