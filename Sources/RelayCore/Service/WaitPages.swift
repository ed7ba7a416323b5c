/// The wait pages of a service's peers, as a value: one each, a bounded number of each user's, and of all together.
struct WaitPages {
    static let perUser = 64
    /// Each takes a descriptor and two pages of memory.
    static let together = 256

    private struct Entry {
        let page: WaitPage
        let user: UInt32
    }
    private var entries: [String: Entry] = [:]
    private var countByUser: [UInt32: Int] = [:]
    private var lastSlot = -1

    var count: Int { entries.count }
    func page(of peer: String) -> WaitPage? { entries[peer]?.page }

    /// The peer's page, made when it asks for the first time.
    ///
    /// Throws `LimitsExceeded` when there are too many, `Unavailable` when there is no memory.
    mutating func page(of peer: String, user: UInt32) throws(RelayError) -> WaitPage {
        if let page = page(of: peer) { return page }
        let ofUser = countByUser[user, default: 0]
        guard ofUser < Self.perUser, count < Self.together else {
            throw RelayError(
                .limitsExceeded,
                "the peers of user \(user) have \(ofUser) wait pages of \(Self.perUser), all together \(count) of "
                    + "\(Self.together)")
        }
        let page = try WaitPage(slot: lastSlot + 1)
        lastSlot += 1
        entries[peer] = Entry(page: page, user: user)
        countByUser[user] = ofUser + 1
        return page
    }
    /// The page that a peer leaves behind, if it had one.
    mutating func depart(_ peer: String) -> WaitPage? {
        guard let entry = entries.removeValue(forKey: peer) else { return nil }
        let left = countByUser[entry.user, default: 1] - 1
        countByUser[entry.user] = left == 0 ? nil : left
        return entry.page
    }
}
