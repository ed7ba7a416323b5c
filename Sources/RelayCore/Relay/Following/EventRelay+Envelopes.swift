/// Events and contracts of any service, without Swift types.
extension EventRelay {
    /// All events of an interface, beginning at `start`, without their Swift types.
    ///
    /// ```swift
    /// for await delivery in try relay.envelopes(of: "org.example.Printing1", from: .beginning) {
    ///     switch delivery {
    ///     case .event(let event, let stamp):
    ///         print(stamp.sequence, event.name, event.fields ?? [], try event.values())
    ///     case .gap(let gap): print("missing", gap.sequences)
    ///     }
    /// }
    /// ```
    ///
    /// In all other respects it works like ``events(of:from:buffer:)``. Changes of documents are among the events.
    ///
    /// - Parameter interface: the interface's name.
    /// - Parameter names: the names of the events; nil stands for all.
    /// - Parameter start: where to begin.
    /// - Parameter buffer: how many live events are held.
    /// - Returns: the stream.
    /// - Throws: `.invalidArgument` for a name that no interface has. Otherwise as
    ///   ``subscribe(to:from:buffer:_:onGap:)``.
    public func envelopes(
        of interface: String, named names: Set<String>? = nil, from start: StreamPosition = .now,
        buffer: EventBuffer = .standard
    ) throws -> EventStream<Envelope> {
        try BusNames.check(interface, as: .interface)
        let decoding = ReplayDecoding(interface: interface, names: names)
        let source = try follower.source(interface, names: names, from: start, buffer, decoding)
        source.begin()
        return EventStream(ReplayStream(source.source))
    }
    /// The contracts of the service's interfaces, in the order of their names.
    ///
    /// ```swift
    /// for contract in try await relay.contracts() { print(contract.name, contract.events.map(\.name)) }
    /// ```
    ///
    /// - Returns: a contract for each interface that the service exports.
    /// - Throws: `.unavailable` if there is no service, `.notPermitted`, `.schemaMismatch` for a contract that this
    ///   version of Relay cannot read, `.cancelled`.
    public func contracts() async throws -> [ContractText] {
        let reply = try await follower.call(path: "/", interface: Stream1.name, member: "Contract")
        let (id, texts) = try reply.read(Stream1.contractSignature) { try Stream1.readContract(&$0) }
        let contract = ServiceContract(id, texts)
        return try texts.keys.sorted().map { try contract.interface($0) }
    }
}
