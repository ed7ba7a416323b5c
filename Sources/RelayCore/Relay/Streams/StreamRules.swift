/// The match rules of one stream: what the bus has been asked to pass on of it.
///
/// - Isolation: in a turn of the loop.
final class StreamRules: Sendable {
    private struct State {
        /// What the bus passes on, by the rules that it was given; with the numbers of the requests.
        var taken: [MatchRule: Int] = [:]
        var requests = 0
        /// What the bus had no room for when it was last asked.
        var refused: Set<MatchRule> = []
    }
    private let owner: ServiceOwner
    private let state: LoopBound<State>

    init(_ owner: ServiceOwner) { (self.owner, state) = (owner, LoopBound(State(), on: owner.loop)) }

    /// Another bus, which has none of them.
    func forget() { (state.onLoop.taken, state.onLoop.refused) = ([:], []) }
    /// Requests what the stream wants, and returns what it does not want any more.
    func update(_ stream: StreamController) {
        if owner.connection == nil { return }
        let wanted = stream.inlets.rules(for: NameScope(names: stream.names), stream.address)
        // The new ones first: between the two the bus must not drop anything.
        for rule in wanted where state.onLoop.taken[rule] == nil { add(rule, stream) }
        for rule in state.onLoop.taken.keys where !wanted.contains(rule) {
            state.onLoop.taken[rule] = nil
            owner.removeMatch(rule)
        }
    }
    private func add(_ rule: MatchRule, _ stream: StreamController) {
        state.onLoop.requests += 1
        let request = state.onLoop.requests
        state.onLoop.taken[rule] = request
        owner.addMatch(rule, "pass on \(stream.interface)") { [self] isTaken in
            guard state.onLoop.taken[rule] == request else { return }
            if isTaken {
                guard state.onLoop.refused.remove(rule) != nil else { return }
                // What was published meanwhile did not come, and nothing else need show that.
                return stream.askWhereItStands()
            }
            // The bus does not have it: nothing is to be removed.
            state.onLoop.taken[rule] = nil
            state.onLoop.refused.insert(rule)
            owner.loop.schedule(after: owner.timing.retry) { [self] in update(stream) }
        }
    }
}
