import Synchronization

/// Turns subscriptions to event types into what the follower asks the bus for.
final class RelayInterests: InterestObserver {
    struct Place: Hashable, Sendable {
        let interface: String
        let event: String
    }
    private struct State {
        var names: [String: Set<String>] = [:]
        weak var follower: ServiceFollower?
    }
    /// Where the types of the relay's contracts belong; all others stay in the process.
    private let places: [ObjectIdentifier: Place]
    private let state = Mutex(State())

    init(_ places: [ObjectIdentifier: Place]) { self.places = places }

    func start(_ follower: ServiceFollower) {
        state.withLock { state in
            state.follower = follower
            for (interface, names) in state.names { follower.follow(interface: interface, names: names) }
        }
    }
    func interestBegan<E: Event>(in type: E.Type) { change(type) { $0.insert($1) } }
    func interestEnded<E: Event>(in type: E.Type) { change(type) { $0.remove($1) } }

    private func change<E: Event>(_ type: E.Type, _ body: (inout Set<String>, String) -> Void) {
        guard let place = places[ObjectIdentifier(type)] else { return }
        // Under the lock, so that the follower hears of changes in their order; it only notes them for its thread.
        state.withLock { state in
            body(&state.names[place.interface, default: []], place.event)
            state.follower?.follow(interface: place.interface, names: state.names[place.interface])
        }
    }
}
