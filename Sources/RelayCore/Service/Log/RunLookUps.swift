/// The calls of `Attach` that wait until the log has looked for their runs, as a value: of each peer one at a time, so
/// that the log's readers serve the peers in turn.
struct RunLookUps {
    struct Entry: Sendable {
        let peer: String
        /// Of its call's arguments.
        let bytes: Int
        let interface: String
        let question: RunQuestion
    }
    struct Job: Sendable {
        let entry: Entry
        fileprivate let charge: PeerLedger.Charge
        let completion: @Sendable (Result<CommonRun?, RelayError>) -> Void
    }
    private let ledger: PeerLedger
    /// The first of each peer is with the log.
    private var lines: [String: [Job]] = [:]

    init(_ ledger: PeerLedger) { self.ledger = ledger }

    enum Verdict {
        case begin(Job)
        case wait
        case refused(String)
    }
    mutating func enqueue(
        _ entry: Entry, completion: @escaping @Sendable (Result<CommonRun?, RelayError>) -> Void
    ) -> Verdict {
        let charge: PeerLedger.Charge
        do throws(PeerLedger.Refusal) {
            charge = try ledger.charge(call: .runCalls, arguments: .runBytes, entry.bytes, to: entry.peer)
        } catch { return .refused(error.message) }
        let job = Job(entry: entry, charge: charge, completion: completion)
        lines[entry.peer, default: []].append(job)
        return lines[entry.peer]?.count == 1 ? .begin(job) : .wait
    }
    /// The log has answered the first one of a peer. Returns the next one.
    mutating func end(_ peer: String) -> Job? {
        guard let line = lines[peer] else { return nil }
        lines[peer] = line.count > 1 ? Array(line.dropFirst()) : nil
        return lines[peer]?.first
    }
}
