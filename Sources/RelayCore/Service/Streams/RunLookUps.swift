import Synchronization

/// The calls of `Attach` that wait until the log has looked for their runs, as a value: of each peer one at a time, so
/// that the log's readers serve the peers in turn.
struct RunLookUps {
    struct Entry: Sendable {
        let call: IncomingCall
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
        let peer = entry.call.sender
        let charge: PeerLedger.Charge
        do throws(PeerLedger.Refusal) {
            charge = try ledger.charge(call: .runCalls, arguments: .runBytes, entry.call.body.count, to: peer)
        } catch { return .refused(error.message) }
        let job = Job(entry: entry, charge: charge, completion: completion)
        lines[peer, default: []].append(job)
        return lines[peer]?.count == 1 ? .begin(job) : .wait
    }
    /// The log has answered the first one of a peer. Returns the next one.
    mutating func end(_ peer: String) -> Job? {
        guard let line = lines[peer] else { return nil }
        lines[peer] = line.count > 1 ? Array(line.dropFirst()) : nil
        return lines[peer]?.first
    }
}

extension ServiceCore {
    /// Has the log look for a run. Answers an error by itself; else calls `completion` on the loop's thread.
    ///
    /// The look-up is of the disk, for which the loop's thread must not wait.
    func find(
        _ entry: RunLookUps.Entry, _ log: ExportedLog, _ connection: BusConnection,
        completion: @escaping @Sendable (CommonRun?) -> Void
    ) {
        let call = entry.call
        let verdict = state.onLoop.runLookUps.enqueue(entry) { [weak self] result in
            switch result {
            case .success(let common): completion(common)
            // Where the histories part is not known: an answer would claim that they have nothing in common.
            case .failure(let error):
                self?.failReading(call, of: entry.interface, error, as: .unavailable, connection)
            }
        }
        switch verdict {
        case .begin(let job): begin(job, log)
        case .wait: break
        case .refused(let reason): replies.refuse(call, .limitsExceeded, reason, connection)
        }
    }
    private func begin(_ job: RunLookUps.Job, _ log: ExportedLog) {
        reads.add(1, ordering: .relaxed)
        log.storage.find(job.entry.question, in: job.entry.interface) { [weak self] result in
            guard let self else { return }
            loop.execute { [self] in
                reads.subtract(1, ordering: .releasing)
                let next = state.onLoop.runLookUps.end(job.entry.call.sender)
                job.completion(result)
                if let next { begin(next, log) }
            }
        }
    }
}
