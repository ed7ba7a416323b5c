// expect: nothing
// What the other files get wrong, done right.
import Dispatch
import RelayCore
import Relocation

enum WindowEvent: Event { case changed(Int, String), closed }

@MainActor final class View: EventSubscriber {
    var count = 0
    var subscriptions: [Subscription] = []
    func on(_ event: BoxRemoved) { count += 1 }
    func onGap(_ gap: Gap) { count = 0 }
    func start(_ events: EventPublisher) {
        events.subscribe(self)
        subscriptions = [
            events.subscribe(to: BoxRemoved.self) { [weak self] _ in
                self?.count += 1
            } onGap: { [weak self] _ in
                self?.count = 0
            },
            events.subscribe { (event: WindowEvent) in if case .changed(let count, _) = event { self.count = count } },
        ]
    }
}
actor Ledger: EventSubscriber {
    var count = 0
    func on(_ event: BoxRemoved) { count += 1 }
    func start(_ events: EventPublisher) {
        events.subscribe(self)
        events.subscribe(self, to: BoxProvisioned.self) { me, _ in me.count += 1 }
    }
}
/// An `on` that awaits says whose it is: a main-actor class does not lend its isolation to an asynchronous witness.
@MainActor final class Slow: EventSubscriber {
    var count = 0
    @MainActor func on(_ event: BoxRemoved) async {
        await Task.yield()
        count += 1
    }
}
final class Audit: EventSubscriber, Sendable {
    func on(_ event: BoxRemoved) {}
}
func start(_ events: EventPublisher, _ audit: Audit) -> Subscription {
    events.subscribe(audit, delivery: .queue(.main))
    return events.subscribe(to: BoxRemoved.self, delivery: .immediate) { print($0.boxID) }
}
func wait() async {}
func follow(_ events: EventPublisher) async {
    for await case .event(let event, let stamp) in events.events(of: BoxRemoved.self) {
        await wait()
        print(stamp.sequence, event.boxID)
    }
}
