import Synchronization
import RelayWire

/// Match rules: which signals the bus passes on.
extension BusConnection {
    /// Asks the bus for signals. Rules are counted: a second request of the same rule costs the bus nothing.
    ///
    /// The completion comes exactly once, on the loop's thread, with the bus's answer. A request without an answer is
    /// repeated, since the bus drops what it has no room for, its own answers too. One that failed needs no
    /// `removeMatch`.
    package func addMatch(
        _ rule: MatchRule, completion: @escaping @Sendable (Result<BusReply, RelayError>) -> Void = { _ in }
    ) {
        matches.withLock { matches in
            switch matches.add(rule, completion) {
            case .wait: break
            case .known(let reply): loop.execute { completion(.success(reply)) }
            case .ask(let request): requestMatch(request, rule)
            }
        }
    }
    private func requestMatch(_ request: UInt64, _ rule: MatchRule) {
        sendMatch("AddMatch", rule) { [weak self] in self?.finishMatch(request, rule, $0) }
    }
    package func removeMatch(_ rule: MatchRule) {
        matches.withLock { if $0.remove(rule) { sendMatch("RemoveMatch", rule) { _ in } } }
    }
    package var rules: [MatchRule: Int] { matches.withLock { $0.counts } }

    private func finishMatch(_ request: UInt64, _ rule: MatchRule, _ result: Result<BusReply, RelayError>) {
        let waiting = matches.withLock { matches -> [MatchTable.Completion] in
            if case .failure(let error) = result, error.code == .timedOut, matches.repeats(request, rule) {
                // The bus may have it all the same. It counts, too: with this it has it once.
                sendMatch("RemoveMatch", rule) { _ in }
                requestMatch(request, rule)
                return []
            }
            return matches.answered(request, rule, try? result.get())
        }
        for completion in waiting { completion(result) }
    }
    func endMatches(_ reason: RelayError) {
        for completion in matches.withLock({ $0.close() }) { loop.execute { completion(.failure(reason)) } }
    }
    private func sendMatch(
        _ member: String, _ rule: MatchRule, _ completion: @escaping @Sendable (Result<BusReply, RelayError>) -> Void
    ) {
        var body = WireWriter()
        do throws(RelayError) {
            try body.string(rule.description, named: "the match rule")
            send(.toBus(member, try Signature("s"), body: body.bytes), timeout: timing.answer, completion: completion)
        } catch {
            loop.execute { completion(.failure(error)) }
        }
    }
}
