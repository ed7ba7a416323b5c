import RelayWire

/// What the bus answers when it is asked who has a name.
package enum NameOwnership: Hashable, Sendable {
    /// A unique name.
    case owner(String)
    case nobody
    /// No answer, from which nothing follows.
    case unknown

    init(_ reply: Result<BusReply, RelayError>) {
        do throws(RelayError) {
            self = .owner(try reply.get().read("s") { try $0.string() })
        } catch {
            let isNobody = (error.cause as? RemoteError)?.name == "org.freedesktop.DBus.Error.NameHasNoOwner"
            self = isNobody ? .nobody : .unknown
        }
    }
}

/// Which peers have the well-known names that a connection calls, and had them, as a value: a reply counts only from
/// one of them.
///
/// It knows what the bus announced and what it answered. Either may be lost: so a reply of a peer that is not known here
/// is a reason to ask, and none to drop it.
struct NameOwners {
    /// One peer's time with a name, in the steps of `now`.
    private struct Tenure {
        let owner: String
        /// When it ended; nil: it has the name, as far as is known.
        var end: UInt64?
    }
    private struct Name {
        /// The latest last; of each owner one, since only the end of its last time counts.
        var tenures: [Tenure] = []
        /// The bus announces changes: else what it answered is old as soon as it has come.
        var isAnnounced = true
        var isAsked = false

        var owner: String? { tenures.last.flatMap { $0.end == nil ? $0.owner : nil } }
        mutating func end(at moment: UInt64) {
            guard let last = tenures.indices.last, tenures[last].end == nil else { return }
            tenures[last].end = moment
        }
        mutating func begin(_ owner: String) {
            tenures.removeAll { $0.owner == owner }
            if tenures.count >= NameOwners.remembered { tenures.removeFirst() }
            tenures.append(Tenure(owner: owner, end: nil))
        }
        /// What the bus reports of a moment: that an owner has the name now, that it had it until now, or that nobody
        /// has it.
        mutating func learn(_ owner: String?, at moment: UInt64) {
            if self.owner == owner { return }
            end(at: moment)
            if let owner { begin(owner) }
        }
    }
    private var names: [String: Name] = [:]
    /// Counts what was learnt: the time of a call, and of an owner's end.
    private(set) var now: UInt64 = 0
    /// So many owners of a name are remembered. One before them is unknown.
    private static let remembered = 8

    /// Begins to follow a name; false: it is followed already.
    mutating func follow(_ name: String) -> Bool {
        if names[name] != nil { return false }
        names[name] = Name()
        return true
    }
    func isFollowed(_ name: String) -> Bool { names[name] != nil }
    /// The bus refuses to announce changes of it.
    mutating func isSilent(_ name: String) { names[name]?.isAnnounced = false }

    /// The bus announced that a followed name has passed from one owner to the next.
    ///
    /// The old one may be unknown here: in doubt, or because its own announcement was lost. It had the name up to this
    /// moment all the same, and what it was asked until then it may answer.
    mutating func announced(_ change: OwnerChange) {
        guard var entry = names.removeValue(forKey: change.name) else { return }
        now += 1
        entry.learn(change.oldOwner, at: now)
        entry.learn(nil, at: now)
        entry.learn(change.newOwner, at: now)
        names[change.name] = entry
    }
    /// A question about a name is to be sent; false: one is on its way.
    mutating func ask(_ name: String) -> Bool {
        guard names[name]?.isAsked == false else { return false }
        names[name]?.isAsked = true
        return true
    }
    /// The bus answered a question about a followed name.
    mutating func answered(_ ownership: NameOwnership, of name: String) {
        guard var entry = names.removeValue(forKey: name) else { return }
        entry.isAsked = false
        now += 1
        switch ownership {
        case .unknown: break
        case .nobody: entry.learn(nil, at: now)
        case .owner(let owner):
            entry.learn(owner, at: now)
            if !entry.isAnnounced {
                now += 1
                entry.end(at: now)
            }
        }
        names[name] = entry
    }
    /// Announcements may have been lost: what is known of the present owners counts for calls that are on their way,
    /// and is to be asked for again for later ones.
    mutating func doubt() {
        now += 1
        for name in names.keys { names[name]?.end(at: now) }
    }
    /// Whether a peer has had the name at any time since `moment`, when a call to it was sent.
    func hadName(_ peer: String, _ name: String, since moment: UInt64) -> Bool {
        names[name]?.tenures.contains { $0.owner == peer && $0.end.map { $0 > moment } ?? true } == true
    }
}
