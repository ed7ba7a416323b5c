import RelayWire

/// What a stream reports to people.
extension PublishedStream {
    /// A peer that attached, as `Status` shows it.
    struct Subscriber: Hashable, Sendable {
        let peer: String
        let names: [String]
        /// What brings it the events.
        let transport: String
        /// The last sequence that the peer reports; 0 if it reports none.
        let sequence: UInt64
    }
    /// How many are noted. Peers beyond that get their events, and are not shown.
    static var notedSubscribers: Int { 4_096 }

    /// In the order of their names.
    var subscribers: [Subscriber] {
        let (noted, head) = state.withLock { state in
            (
                state.subscribers.map { (peer: $0.key, names: $0.value, progress: state.outlets.progress(of: $0.key)) },
                state.place.sequence
            )
        }
        return noted.sorted { ($0.peer.utf8.count, $0.peer) < ($1.peer.utf8.count, $1.peer) }.map { one in
            Subscriber(
                peer: one.peer, names: one.names, transport: one.progress.transport,
                sequence: min(one.progress.sequence(), head))
        }
    }
    /// What its outlets show of themselves.
    var outletStatus: [(name: String, value: DBusValue)] { state.withLock { $0.outlets.status } }
}

extension PublishedStream.State {
    mutating func note(_ peer: String, _ names: [String]) {
        if names.isEmpty {
            subscribers[peer] = nil
        } else if subscribers.count < PublishedStream.notedSubscribers || subscribers[peer] != nil {
            subscribers[peer] = names
        }
    }
}
