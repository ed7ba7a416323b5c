/// To whom one stream's signals go, as a value.
struct SignalAudience: Sendable {
    /// Signals are broadcasts, for every connection with a match rule at the bus. Else each peer that attached, and
    /// may, gets a signal of its own.
    let isEveryone: Bool
    private var attached: Set<String> = []
    /// The peers that get the events by the ring.
    private var elsewhere: Set<String> = []
    /// The peers that attached, and get the events from here.
    private(set) var listeners: Set<String> = []

    init(isEveryone: Bool = false) { self.isEveryone = isEveryone }
    /// The same peers, on a bus that admits others than those that may have the events, or does not.
    func reaching(everyone isEveryone: Bool) -> Self {
        var audience = Self(isEveryone: isEveryone)
        audience.elsewhere = elsewhere
        return audience
    }

    mutating func attach(_ peer: String) {
        attached.insert(peer)
        if !elsewhere.contains(peer) { listeners.insert(peer) }
    }
    mutating func depart(_ peer: String) {
        attached.remove(peer)
        listeners.remove(peer)
    }
    /// The ring brings a peer its events from now on.
    mutating func handOver(_ peer: String) {
        elsewhere.insert(peer)
        listeners.remove(peer)
    }
    /// The ring no longer does.
    mutating func takeBack(_ peer: String) {
        if elsewhere.remove(peer) != nil, attached.contains(peer) { listeners.insert(peer) }
    }

    /// How many signals one event takes.
    var count: Int { isEveryone ? 1 : listeners.count }
    /// The destinations of a signal for those that get the events from here; nil: a broadcast.
    var destinations: [String?] { isEveryone ? [nil] : Array(listeners) }
    /// The same of a signal that peers on the ring get, too.
    var allDestinations: [String?] { isEveryone ? [nil] : Array(attached) }
    func isElsewhere(_ peer: String) -> Bool { elsewhere.contains(peer) }
    /// The ring brings the events to every peer that is known to want them, which is at least one. So nobody that is
    /// known waits for a `Head`.
    var isServedElsewhere: Bool { listeners.isEmpty && !elsewhere.isEmpty }
}
