import RelayCore

/// Receives on an actor, and says when it has so many.
actor Sink {
    private var count = 0
    private var waiter: (Int, CheckedContinuation<Void, Never>)?

    func follow(_ publisher: EventPublisher, _ limit: Int) -> Subscription {
        publisher.subscribe(to: Tick.self, buffer: .bufferingNewest(limit)) { _ in
            self.receive()
        } onGap: { _ in
        }
    }
    private func receive() {
        count += 1
        if let (wanted, continuation) = waiter, count >= wanted {
            waiter = nil
            continuation.resume()
        }
    }
    func wait(for wanted: Int) async {
        if count >= wanted { return }
        await withCheckedContinuation { waiter = (wanted, $0) }
    }
}
