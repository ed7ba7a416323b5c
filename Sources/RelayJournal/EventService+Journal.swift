public import RelayCore

extension EventService {
    /// Prepares a service with a journal. Nothing is on the bus before `run()`.
    ///
    /// - Parameter name: the well-known bus name.
    /// - Parameter bus: the bus to connect to.
    /// - Parameter interfaces: the interfaces to export.
    /// - Parameter journal: keeps the events of durable interfaces. From now on its units of work can publish this
    ///   service's events. A journal serves one service, once.
    /// - Parameter admitted: the requirement that every peer must meet, in addition to those of the contracts.
    /// - Parameter onNotice: is called with what goes wrong while the service runs: see `Notice.Kind`. Calls are few,
    ///   one at a time, on a thread of their own, so it may write to a log that blocks.
    /// - Throws: `.unsupportedType` with type, field and reason for what D-Bus cannot carry. `.invalidArgument` for a
    ///   bad or repeated name. `.conflict` for a journal that has served already. What the journal throws.
    public convenience init(
        name: String, on bus: Bus = .session, exporting interfaces: any EventInterface.Type..., journal: EventJournal,
        admitting admitted: PeerRequirement = .anyone, onNotice: @escaping @Sendable (Notice) -> Void = { _ in }
    ) throws {
        try self.init(
            name: name, on: bus, exporting: interfaces, journal: journal, admitting: admitted, onNotice: onNotice)
    }
    /// Prepares a service with a journal, and with interfaces that are chosen at run time.
    ///
    /// - Parameter name: the well-known bus name.
    /// - Parameter bus: the bus to connect to.
    /// - Parameter interfaces: the interfaces to export.
    /// - Parameter journal: keeps the events of durable interfaces, as where the interfaces are named one by one.
    /// - Parameter admitted: the requirement that every peer must meet, in addition to those of the contracts.
    /// - Parameter onNotice: is called with what goes wrong while the service runs: see `Notice.Kind`.
    /// - Throws: as the initialiser that takes single interfaces.
    public convenience init(
        name: String, on bus: Bus = .session, exporting interfaces: [any EventInterface.Type], journal: EventJournal,
        admitting admitted: PeerRequirement = .anyone, onNotice: @escaping @Sendable (Notice) -> Void = { _ in }
    ) throws {
        try self.init(name, bus, interfaces, journal: journal, admitting: admitted, onNotice)
    }
}
