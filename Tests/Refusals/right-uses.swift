// expect: nothing
// What the other files get wrong, done right.
import Dispatch
import RelayCore
import RelayJournal
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
            events.subscribe(onGap: .ignore) { (event: WindowEvent) in
                if case .changed(let count, _) = event { self.count = count }
            },
        ]
    }
}
actor Ledger: EventSubscriber {
    var count = 0
    func on(_ event: BoxRemoved) { count += 1 }
    func onGap(_ gap: Gap) {}
    func start(_ events: EventPublisher) {
        events.subscribe(self)
        events.subscribe(self, to: BoxProvisioned.self, onGap: .ignore) { me, _ in me.count += 1 }
    }
}
/// An `on` that awaits says whose it is: a main-actor class does not lend its isolation to an asynchronous witness.
@MainActor final class Slow: EventSubscriber {
    var count = 0
    @MainActor func on(_ event: BoxRemoved) async {
        await Task.yield()
        count += 1
    }
    func onGap(_ gap: Gap) {}
}
final class Audit: EventSubscriber, Sendable {
    func on(_ event: BoxRemoved) {}
    func onGap(_ gap: Gap) {}
}
func start(_ events: EventPublisher, _ audit: Audit) -> Subscription {
    events.subscribe(audit, delivery: .queue(.main))
    return events.subscribe(to: BoxRemoved.self, delivery: .immediate, onGap: .ignore) { print($0.boxID) }
}
func wait() async {}
func follow(_ events: EventPublisher) async {
    for await case .event(let event, let stamp) in events.events(of: BoxRemoved.self) {
        await wait()
        print(stamp.sequence, event.boxID)
    }
}
enum Kept1: EventInterface {
    static let name = "org.example.Kept1"
    static var contract: Contract<Self> { Kept.self }
}
struct Kept: DomainEvent {
    typealias Interface = Kept1
    var number: Int64
}
enum Told1: EventInterface {
    static let name = "org.example.Told1"
    static let durability = Volatile()
    static var contract: Contract<Self> { Told.self }
}
struct Told: DomainEvent {
    typealias Interface = Told1
    var number: Int64
}
/// A durable event is awaited, a volatile one is not; also with what is not Sendable, from an actor.
@MainActor func publish(_ service: EventService, _ log: EventJournal) async throws {
    _ = try EventService(name: "org.example.Right", exporting: Kept1.self, Told1.self, journal: log)
    try service.publish(Told(number: 1))
    try await service.publish(Kept(number: 2))
    let numbers = AnySequence([3, 4].lazy.map { Kept(number: $0) })
    try await service.publish(contentsOf: numbers)
}
/// Structures of numbers, and arrays whose length is part of their type.
struct Captured: FixedLayoutEvent {
    typealias Interface = Relocation1
    struct Gain: Codable, BitwiseCopyable { var left: Float, right: Float }
    var at: UInt64, gain: Gain, samples: FixedArray<508, UInt64>
    init(_ samples: some Sequence<UInt64>, at: UInt64) throws(RelayError) {
        (self.at, gain) = (at, Gain(left: 1, right: 1))
        self.samples = try FixedArray(copying: samples)
    }
    var mean: UInt64 { samples.reduce(0, &+) / UInt64(samples.count) }
}

struct Refused: Error {}
func refuse(_ journal: EventJournal) async throws {
    try await journal.unitOfWork { unit in
        try unit.execute("DELETE FROM jobs")
        throw Refused()
    } onRefusal: { (_: Refused, events) in
        try events.publish(BoxRemovalFailed(boxID: 1, reason: "full"))
    }
}
