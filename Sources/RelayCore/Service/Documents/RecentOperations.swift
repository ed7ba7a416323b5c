/// The operations that a volatile document has had lately, as a value: a repetition is answered with the first reply.
///
/// In the order of their ends, at most `limit` of all users, and half as many of one: who submits much makes the service
/// forget its own first.
struct RecentOperations: Sendable {
    struct Operation: Hashable, Sendable {
        let user: UInt32
        let id: String
    }
    private struct Done {
        let submission: Int64
        let version: DocumentVersion
        let number: UInt64
    }
    enum Answer: Hashable {
        /// It is done: the first reply.
        case done(DocumentVersion)
        /// It came before, with another state or another version.
        case reused
    }
    static let limit = 1_024
    private var done: [Operation: Done] = [:]
    private var count: [UInt32: Int] = [:]
    private var last: UInt64 = 0
    /// The highest sequence of a version that a forgotten operation made: one that was based on a lower sequence and is
    /// not known may be such a one.
    private(set) var forgotten: UInt64 = 0

    var total: Int { done.count }

    /// - Parameter submission: a hash of what was submitted. Who finds two with the same hash has two of its own.
    func answer(_ operation: Operation, _ submission: Int64) -> Answer? {
        guard let known = done[operation] else { return nil }
        return known.submission == submission ? .done(known.version) : .reused
    }
    mutating func add(_ operation: Operation, _ submission: Int64, _ version: DocumentVersion) {
        if done[operation] != nil { return }
        if count[operation.user, default: 0] >= Self.limit / 2 {
            removeOldest { $0.user == operation.user }
        } else if done.count >= Self.limit {
            removeOldest { _ in true }
        }
        last += 1
        done[operation] = Done(submission: submission, version: version, number: last)
        count[operation.user, default: 0] += 1
    }
    private mutating func removeOldest(where isMeant: (Operation) -> Bool) {
        let oldest = done.filter { isMeant($0.key) }.min { $0.value.number < $1.value.number }
        guard let oldest else { return }
        done[oldest.key] = nil
        forgotten = max(forgotten, oldest.value.version.sequence)
        let left = count[oldest.key.user, default: 1] - 1
        count[oldest.key.user] = left == 0 ? nil : left
    }
}
