/// Which peers are there. On the loop's thread.
///
/// A bus drops what it has no room for, its own announcements included: so it is asked for the names that it has, soon
/// after calls and now and then, while any peer is there.
final class Census: Sendable {
    private struct State {
        var timer: UInt64?
        /// It is taken as soon as that is due after a call.
        var isPrompt = false
        var isUnderWay = false
        var onDeparture: (@Sendable (_ peer: String) -> Void)?
    }
    private let state: LoopBound<State>
    private let connection: LoopBound<BusConnection?>
    private let ledger: PeerLedger
    private let loop: BusLoop
    private let timing: ServiceTiming
    /// A test's bus loses nothing, and its time is moved by days.
    private let isNeeded: Bool

    init(
        _ connection: LoopBound<BusConnection?>, _ ledger: PeerLedger, _ loop: BusLoop, _ timing: ServiceTiming,
        isNeeded: Bool
    ) {
        (self.connection, self.ledger, self.loop) = (connection, ledger, loop)
        (self.timing, self.isNeeded) = (timing, isNeeded)
        state = LoopBound(State(), on: loop)
    }
    /// Calls back for each peer that has left without a word of the bus.
    func onDeparture(_ body: @escaping @Sendable (_ peer: String) -> Void) {
        loop.withTurn { state.onLoop.onDeparture = body }
    }
    /// A peer has called, and is there.
    func note(_ peer: String) {
        ledger.arrive(peer)
        if !state.onLoop.isPrompt { order(isPrompt: true) }
    }
    private func order(isPrompt: Bool) {
        if !isNeeded { return }
        state.onLoop.isPrompt = isPrompt
        if state.onLoop.isUnderWay { return }
        if let timer = state.onLoop.timer.take() { loop.cancel(timer: timer) }
        let window = isPrompt ? timing.census : timing.leisurelyCensus
        state.onLoop.timer = loop.schedule(after: window.delay, slack: window.slack) { [weak self] in self?.take() }
    }
    private func take() {
        state.onLoop.timer = nil
        state.onLoop.isPrompt = false
        guard let connection = connection.onLoop, !ledger.present.isEmpty else { return }
        state.onLoop.isUnderWay = true
        connection.send(.toBus("ListNames"), timeout: timing.censusAnswer) { [weak self] result in
            guard let self, self.connection.onLoop === connection else { return }
            state.onLoop.isUnderWay = false
            let names = try? result.get().read("as") { try Stream1.readNames(&$0) }
            // Who called before the answer, and is not in it, has left: the bus sends both in its order.
            if let names {
                for peer in Set(ledger.present).subtracting(names) { state.onLoop.onDeparture?(peer) }
            }
            let isPrompt = names == nil || state.onLoop.isPrompt
            if isPrompt || !ledger.present.isEmpty { order(isPrompt: isPrompt) }
        }
    }
}
