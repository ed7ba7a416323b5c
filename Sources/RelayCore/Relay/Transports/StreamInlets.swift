/// The ways into one stream, and the choice between them. A stream has one transport past the bus: which one is given
/// to the relay, and is the ring by default.
struct StreamInlets {
    private(set) var choice = TransportChoice()
    let signals = SignalInlet()
    /// One indirect call for each drain, none for an event: the inlet calls the stream by its type.
    let direct: any DirectInlet

    init(_ transport: any DirectTransport, of interface: String) { direct = transport.inlet(of: interface) }

    /// Whether signals of events count.
    @inline(__always) var takesSignals: Bool { choice.takesSignals }
    var reportsLoss: Bool { takesSignals ? signals.reportsLoss : direct.reportsLoss }
    func rules(for names: NameScope, _ stream: StreamAddress) -> [MatchRule] {
        if names == .nothing { return [] }
        return takesSignals ? signals.rules(for: names, stream) : direct.rules(for: names, stream)
    }
    /// What an `Attach` waits for: it is not known yet how the events come.
    var isOpening: Bool { choice.phase == .opening }
    /// Events of the owner may be in the direct inlet that the stream does not have.
    var holdsBack: Bool { direct.isParked || direct.isOpening }

    mutating func choose(_ decide: (inout TransportChoice) -> [TransportChoice.Action]) -> [TransportChoice.Action] {
        decide(&choice)
    }
}

/// The way through the bus: needs nothing to be opened, and is what remains where nothing else can be had.
struct SignalInlet: Inlet {
    // The bus drops a signal that it has no room for, and nobody hears of it.
    var reportsLoss: Bool { false }
    func rules(for names: NameScope, _ stream: StreamAddress) -> [MatchRule] {
        var member: String?
        if case .one(let name) = names { member = name }
        let events = MatchRule(
            sender: stream.service, path: stream.path, interface: stream.interface, member: member)
        return [stream.words(), events]
    }
}
