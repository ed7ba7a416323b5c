@_spi(Relay) import RelayEvents

/// The questions of calls that wait for their turn at polkit, as a value: users in turn.
///
/// A bus allows a connection few calls that are not answered (dbus-daemon, as it is built, 128), and refuses the next
/// one: so the callers of one user must not take all of them. The rule is that of `OpenRingQuota`: a user gets more
/// while it has less than twice what is left.
struct PolkitQueue {
    /// Open at once. Beside them are those of a round over the authorised peers: 64 in all.
    static let together = 56
    /// How many one user gets when nobody else has any.
    static let share = (2 * together + 2) / 3

    struct Question: Sendable {
        /// The call's, in the gate.
        let id: UInt64
        let peer: String
        /// Those whose user is not known are one.
        let user: UInt32?
        let ask: @Sendable () -> Void
    }
    private var open: [UInt32?: Int] = [:]
    private var waiting: [UInt32?: Deque<Question>] = [:]
    /// The users of which some wait: each in its turn.
    private var turns: [UInt32?] = []
    private(set) var openCount = 0

    var waitingCount: Int { waiting.values.reduce(0) { $0 + $1.count } }

    mutating func add(_ question: Question) {
        if waiting[question.user] == nil { turns.append(question.user) }
        waiting[question.user, default: Deque()].append(question)
    }
    /// Takes the next one that can be asked now; it counts until `end`. Returns nil when there is none.
    mutating func next() -> Question? {
        for _ in turns {
            if openCount >= Self.together { return nil }
            let user = turns.removeFirst()
            let used = open[user, default: 0]
            guard used < 2 * (Self.together - openCount), let question = waiting[user]?.popFirst() else {
                turns.append(user)
                continue
            }
            if waiting[user]?.isEmpty == true { waiting.removeValue(forKey: user) } else { turns.append(user) }
            open[user] = used + 1
            openCount += 1
            return question
        }
        return nil
    }
    /// A question of this user's has been answered.
    mutating func end(_ user: UInt32?) {
        guard let used = open[user] else { return }
        if used > 1 { open[user] = used - 1 } else { open.removeValue(forKey: user) }
        openCount -= 1
    }
    /// Those that wait of calls that are gone are not asked any more.
    mutating func remove(where isGone: (Question) -> Bool) {
        for user in turns {
            waiting[user]?.filter { !isGone($0) }
            if waiting[user]?.isEmpty == true { waiting.removeValue(forKey: user) }
        }
        turns.removeAll { waiting[$0] == nil }
    }
}
