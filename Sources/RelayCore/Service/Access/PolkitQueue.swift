@_spi(Relay) import RelayEvents

/// The questions of calls that wait for their turn at polkit, as a value: users in turn.
///
/// A bus allows a connection few calls that are not answered (dbus-daemon, as it is built, 128), and refuses the next
/// one: so the callers of one user must not take all of them. Beside theirs are those of a round over the authorised
/// peers: 64 in all.
struct PolkitQueue {
    struct Question: Sendable {
        /// The call's, in the gate.
        let id: UInt64
        let peer: String
        /// Those whose user is not known are one.
        let user: UInt32?
        let ask: @Sendable () -> Void
    }
    /// By the question's number.
    private var open: [UInt64: PeerLedger.Charge] = [:]
    private var waiting: [UInt32?: Deque<Question>] = [:]
    /// The users of which some wait: each in its turn.
    private var turns: [UInt32?] = []
    var openCount: Int { open.count }
    var waitingCount: Int { waiting.values.reduce(0) { $0 + $1.count } }

    mutating func add(_ question: Question) {
        if waiting[question.user] == nil { turns.append(question.user) }
        waiting[question.user, default: Deque()].append(question)
    }
    /// Takes the next one that can be asked now; it counts until `end`. Returns nil when there is none.
    mutating func next(_ ledger: PeerLedger) -> Question? {
        for _ in turns {
            let user = turns.removeFirst()
            guard let first = waiting[user]?.first, let charge = try? ledger.charge(.polkitQuestions, to: first.peer)
            else {
                turns.append(user)
                continue
            }
            let question = waiting[user]?.popFirst()
            if waiting[user]?.isEmpty == true { waiting.removeValue(forKey: user) } else { turns.append(user) }
            open[first.id] = charge
            return question
        }
        return nil
    }
    /// It has been answered.
    mutating func end(_ id: UInt64) { open[id] = nil }
    /// Those that wait of calls that are gone are not asked any more.
    mutating func remove(where isGone: (Question) -> Bool) {
        for user in turns {
            waiting[user]?.filter { !isGone($0) }
            if waiting[user]?.isEmpty == true { waiting.removeValue(forKey: user) }
        }
        turns.removeAll { waiting[$0] == nil }
    }
}
