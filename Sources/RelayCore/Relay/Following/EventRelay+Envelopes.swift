public import RelayWire

/// Events and contracts of any service, without Swift types.
extension EventRelay {
    /// All events of an interface, beginning at `start`, without their Swift types.
    ///
    /// The stream begins when it is created. Changes of documents are among the events.
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
        try stream(of: envelopeSource(of: interface, named: names, from: start, buffer))
    }
    /// The same, for programs with a loop of their own: see ``EnvelopeStream``.
    ///
    /// - Parameter onNews: is called when there is something to take after `poll()` returned nil. It runs on the relay's
    ///   thread, and must not wait.
    package func polledEnvelopes(
        of interface: String, named names: Set<String>? = nil, from start: StreamPosition = .now,
        buffer: EventBuffer = .standard, onNews: (@Sendable () -> Void)? = nil
    ) throws -> EnvelopeStream {
        let source = try envelopeSource(of: interface, named: names, from: start, buffer)
        // Before anything fills it.
        let stream = EnvelopeStream(source.source, onNews: onNews)
        source.begin()
        return stream
    }
    private func envelopeSource(
        of interface: String, named names: Set<String>?, from start: StreamPosition, _ buffer: EventBuffer
    ) throws -> BegunSource<Envelope> {
        try BusNames.check(interface, as: .interface)
        return try follower.source(
            interface, names: names, from: start, buffer, ReplayDecoding(interface: interface, names: names))
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
        let (names, contract) = try await allContracts()
        return try names.sorted().map { try contract.interface($0) }
    }
    /// The contract of one interface, whatever the others are; nil if the service lacks it.
    package func contract(of interface: String) async throws -> ContractText? {
        let (names, contract) = try await allContracts()
        return names.contains(interface) ? try contract.interface(interface) : nil
    }
    private func allContracts() async throws -> (names: Set<String>, contract: ServiceContract) {
        let reply = try await follower.call(path: "/", interface: Stream1.name, member: "Contract")
        let (id, texts) = try reply.read(Stream1.contractSignature) { try Stream1.readContract(&$0) }
        return (Set(texts.keys), ServiceContract(id, texts))
    }
    /// Calls a method of the service's object for an interface, or of another one: for tools, which know commands by
    /// their descriptions.
    package func call(
        path: String, interface: String, member: String, signature: Signature = .empty, body: [UInt8] = [],
        timeout: Duration
    ) async throws -> BusReply {
        try await follower.call(
            path: path, interface: interface, member: member, signature: signature, body: body, timeout: timeout)
    }
}
