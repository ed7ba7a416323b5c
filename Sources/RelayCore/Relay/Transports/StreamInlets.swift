/// The ways into one stream, and the choice between them: its ring, or signals. The journal is none: it is read on
/// demand.
struct StreamInlets {
    var choice = TransportChoice()
    let ring: RingInlet

    init(_ transport: RingTransport) { ring = RingInlet(transport) }

    /// Whether signals of events count.
    @inline(__always) var takesSignals: Bool { choice.takesSignals }
    /// What brings the events shows by itself what it lost. So no `Head` need confirm its last event, and a loss
    /// elsewhere casts no doubt on it. A ring does; the bus drops a signal that it has no room for, and nobody hears of
    /// it.
    var reportsLoss: Bool { !takesSignals }
    /// What the bus is to pass on.
    func rules(for names: NameScope, _ stream: StreamAddress) -> [MatchRule] {
        if names == .nothing { return [] }
        // Of a ring, the run's last word only: `Head` announces nothing that the ring does not show.
        guard takesSignals else { return [stream.words("End")] }
        var member: String?
        if case .one(let name) = names { member = name }
        let events = MatchRule(
            sender: stream.service, path: stream.path, interface: stream.interface, member: member)
        return [stream.words(), events]
    }
    /// What an `Attach` waits for: it is not known yet how the events come.
    var isOpening: Bool { choice.phase == .opening }
    /// Events of the owner may be in the ring that the stream does not have.
    var holdsBack: Bool { ring.isParked || ring.isOpening }
}
