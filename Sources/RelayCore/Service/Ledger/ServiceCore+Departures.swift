import Synchronization

/// Which peers are there, and what becomes of what they leave behind.
extension ServiceCore {
    /// What is known of who is there.
    struct Census {
        fileprivate var timer: UInt64?
        /// It is taken as soon as that is due after a call.
        fileprivate var isPrompt = false
        fileprivate var isUnderWay = false
    }

    /// A peer has called, and is there.
    func noteCaller(_ peer: String) {
        ledger.arrive(peer)
        if !state.onLoop.census.isPrompt { orderCensus(isPrompt: true) }
    }

    // MARK: The census

    /// A bus drops what it has no room for, its own announcements included: so it is asked for the names that it has,
    /// soon after calls and now and then, while any peer is there.
    private func orderCensus(isPrompt: Bool) {
        // A test's bus loses nothing, and its time is moved by days.
        if bus.linked != nil { return }
        state.onLoop.census.isPrompt = isPrompt
        if state.onLoop.census.isUnderWay { return }
        if let timer = state.onLoop.census.timer.take() { loop.cancel(timer: timer) }
        let window = isPrompt ? timing.census : timing.leisurelyCensus
        state.onLoop.census.timer = loop.schedule(after: window.delay, slack: window.slack) { [weak self] in
            self?.takeCensus()
        }
    }
    private func takeCensus() {
        state.onLoop.census.timer = nil
        state.onLoop.census.isPrompt = false
        guard let connection = connection.onLoop, !ledger.present.isEmpty else { return }
        state.onLoop.census.isUnderWay = true
        connection.send(.toBus("ListNames"), timeout: timing.censusAnswer) { [weak self] result in
            guard let self, self.connection.onLoop === connection else { return }
            state.onLoop.census.isUnderWay = false
            let names = try? result.get().read("as") { try Stream1.readNames(&$0) }
            // Who called before the answer, and is not in it, has left: the bus sends both in its order.
            if let names { for peer in Set(ledger.present).subtracting(names) { depart(peer) } }
            let isPrompt = names == nil || state.onLoop.census.isPrompt
            if isPrompt || !ledger.present.isEmpty { orderCensus(isPrompt: isPrompt) }
        }
    }
}
