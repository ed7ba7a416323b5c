public import RelayWire

/// A service whose contract is known at run time.
extension EventService {
    /// Prepares a service of volatile interfaces that are known by the texts of their contracts. Nothing is on the bus
    /// before ``start()`` or ``run()``.
    ///
    /// Relays with the Swift types follow it as any other service. It has no handlers: every command is refused with
    /// `.readOnly`. For durable interfaces, RelayJournal has an initialiser with a `journal:`.
    ///
    /// - Parameter name: the well-known bus name.
    /// - Parameter bus: the bus to connect to.
    /// - Parameter interfaces: the interfaces to export.
    /// - Parameter admitted: the requirement that every peer must meet, in addition to those of the contracts.
    /// - Parameter onNotice: is called with each notice of the service: see ``Notice/Kind``.
    /// - Throws: `.invalidArgument` for a contract that no service can have, and for a durable one. `.unsupportedType`
    ///   for an event that no signal can carry.
    public convenience init(
        name: String, on bus: Bus = .session, exporting interfaces: UntypedInterface...,
        admitting admitted: PeerRequirement = .anyone, onNotice: @escaping @Sendable (Notice) -> Void = Notice.log
    ) throws {
        try self.init(
            name, bus, untyped: interfaces, journal: nil, admitting: admitted, readOnly: "\(name) publishes only",
            onNotice)
    }
    /// With interfaces that are known by their contracts.
    ///
    /// - Parameter journal: keeps the events of durable interfaces.
    /// - Parameter runs: by the names of durable interfaces that are mirrored, the runs of their origins.
    /// - Parameter reason: why commands are refused: what a caller is told.
    package convenience init(
        _ name: String, _ bus: Bus, untyped interfaces: [UntypedInterface], journal: (any EventLog)?,
        mirroring runs: [String: MirroredRun] = [:], admitting admitted: PeerRequirement = .anyone,
        readOnly reason: String, timing: ServiceTiming = ServiceTiming(),
        _ onNotice: @escaping @Sendable (Notice) -> Void
    ) throws {
        try Self.check(name)
        try self.init(
            name, bus,
            plans: interfaces.map {
                try InterfacePlan(
                    $0, admitting: admitted, isMirrored: runs[$0.contract.name] != nil, readOnly: reason)
            }, journal: journal, mirroring: runs, timing: timing, onNotice)
    }
    /// Publishes an event of a volatile interface without its Swift type, or sets a document.
    ///
    /// ```swift
    /// try service.publish("JobPrinted", of: "org.example.Printing1", ["jobID": .int64(7), "title": .string("Menu")])
    /// ```
    ///
    /// - Parameter name: the name of the event or document.
    /// - Parameter interface: the name of an ``UntypedInterface``.
    /// - Parameter values: the values by the names of the fields. An optional field may be left out.
    /// - Throws: `.notFound` for an event that the service does not export so. `.invalidArgument` for values that are
    ///   not what the contract has. `.tooLarge` over 1 MiB. `.unavailable` after the service's end. Nothing was
    ///   published then.
    public func publish(_ name: String, of interface: String, _ values: [String: DBusValue]) throws {
        guard let encoded = try encoded(name, of: interface, values) else { return }
        guard case .volatile(let send) = encoded.event else {
            throw RelayError(.invalidArgument, "\(interface) is durable: publish its events with await")
        }
        if encoded.stream.hasEnded { throw encoded.stream.ended }
        send()
    }
    /// Publishes an event of a durable interface without its Swift type in its own transaction, or sets a document.
    /// Returns when it is durable.
    ///
    /// - Parameter name: the name of the event or document.
    /// - Parameter interface: the name of an ``UntypedInterface``.
    /// - Parameter values: the values by the names of the fields. An optional field may be left out.
    /// - Throws: as ``publish(_:of:_:)``. `.storageFull`, `.unavailable` or `.outcomeUnknown` from the journal.
    public nonisolated(nonsending) func commit(
        _ name: String, of interface: String, _ values: [String: DBusValue]
    ) async throws {
        guard let encoded = try encoded(name, of: interface, values) else { return }
        guard let storage else { return try publish(name, of: interface, values) }
        try await storage.commit(encoded.event)
    }
    private func encoded(
        _ name: String, of interface: String, _ values: [String: DBusValue]
    ) throws -> (event: EncodedEvent, stream: PublishedStream)? {
        guard let served = interfaces.first(where: { $0.name == interface }) else {
            throw RelayError(.notFound, "\(self.name) does not export \(BusNames.quoted(interface))")
        }
        guard let event = served.events.first(where: { $0.name == name }) as? UntypedEvent else {
            throw RelayError(.notFound, "\(interface) has no event \(BusNames.quoted(name)) without a Swift type")
        }
        return try event.encoded(values, served.book).map { ($0, served.stream) }
    }
}
