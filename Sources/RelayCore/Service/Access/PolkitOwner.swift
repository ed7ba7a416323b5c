/// Which connection is polkit, as a value.
///
/// The bus may drop any of its messages, so the last owner that it reported may have gone. A question without an
/// answer, and a word of polkit's from another connection, are reasons to ask the bus again, and never to trust.
struct PolkitOwner {
    /// What a signal of polkit's calls for.
    enum Consequence { case recheck, ask, nothing }

    /// The unique name that the bus reported last. What was permitted rests on its answers.
    private(set) var last: String?
    private var isCertain = false
    /// The doubtful owner has announced a change.
    private var hasSpoken = false
    /// The bus was asked because of a signal, and is not asked again for a moment.
    private var isResting = false
    private var mustAskAgain = false

    /// Whom to ask; nil: ask the bus first.
    var present: String? { isCertain ? last : nil }

    /// The bus has announced a change of the name's owner. Returns whether all permissions need a recheck: another
    /// polkit may have other rules.
    mutating func announced(_ owner: String?) -> Bool {
        guard let owner else {
            isCertain = false
            return false
        }
        (last, isCertain, hasSpoken) = (owner, true, false)
        return true
    }
    /// The bus was asked who owns the name. Returns as `announced`.
    mutating func answered(_ result: Result<String, RelayError>) -> Bool {
        switch result {
        case .success(let owner):
            let isOther = last.map { $0 != owner || hasSpoken } ?? false
            (last, isCertain, hasSpoken) = (owner, true, false)
            return isOther
        case .failure(let error):
            if Self.names(["NameHasNoOwner"], error) { isCertain = false } else { mustAskAgain = isResting }
            return false
        }
    }
    /// A question to this connection has failed.
    mutating func failed(_ error: RelayError, asking owner: String) {
        let isGone = Self.names(["ServiceUnknown", "NameHasNoOwner", "NoReply"], error)
        if owner == last, isGone || error.code == .timedOut { isCertain = false }
    }
    private static func names(_ names: [String], _ error: RelayError) -> Bool {
        guard let remote = error.cause as? RemoteError else { return false }
        return names.contains { remote.name == "org.freedesktop.DBus.Error.\($0)" }
    }
    /// A signal that polkit would send has come from this connection. Anybody can send one.
    mutating func heard(from sender: String) -> Consequence {
        // Nothing was permitted before polkit was first found.
        guard let last else { return .nothing }
        if sender == last {
            if isCertain { return .recheck }
            hasSpoken = true
        }
        if isResting {
            mustAskAgain = true
            return .nothing
        }
        isResting = true
        return .ask
    }
    /// The moment is over. Returns whether to ask the bus again; then another moment begins.
    mutating func rested() -> Bool {
        defer { (isResting, mustAskAgain) = (mustAskAgain, false) }
        return mustAskAgain
    }
}
