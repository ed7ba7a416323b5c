import Synchronization

/// What a stream tells people.
extension PublishedStream {
    /// A peer that attached, as `Status` shows it.
    struct Subscriber: Hashable, Sendable {
        let peer: String
        let names: [String]
        let isOnRing: Bool
        /// The last sequence that the peer says to have; 0 when it says nothing.
        let sequence: UInt64
    }
    /// How many are noted; those who come past that have their events, and are not shown.
    static var notedSubscribers: Int { 4_096 }

    /// In the order of their names.
    var subscribers: [Subscriber] {
        let (noted, readers, head) = state.withLock { ($0.subscribers, $0.ring?.readers ?? [:], $0.sequence) }
        return noted.sorted { ($0.key.utf8.count, $0.key) < ($1.key.utf8.count, $1.key) }.map { peer, names in
            let page = readers[peer]
            // Written by the peer: anything.
            let sequence = page.flatMap { page in ring.map { page.progress(ringIndex: $0.ringIndex) } } ?? 0
            return Subscriber(peer: peer, names: names, isOnRing: page != nil, sequence: min(sequence, head))
        }
    }
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
