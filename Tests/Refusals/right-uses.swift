// expect: nothing
// What the other files get wrong, done right.
import Dispatch
import RelayCore
import RelayJournal
import Relocation

enum WindowEvent: Event { case changed(Int, String), closed }

@MainActor final class View {
    var count = 0
    var subscriptions: [Subscription] = []
    func start(_ events: EventPublisher) {
        events.subscribe(self, to: BoxRemoved.self) { me, _ in
            me.count += 1
        } onGap: { me, _ in
            me.count = 0
        }
        subscriptions = [
            events.subscribe(to: BoxRemoved.self) { [weak self] _ in
                self?.count += 1
            } onGap: { [weak self] _ in
                self?.count = 0
            },
            events.subscribe() { (event: WindowEvent) in
                if case .changed(let count, _) = event { self.count = count }
            } onGap: { _ in
            },
        ]
    }
}
actor Ledger {
    var count = 0
    func start(_ events: EventPublisher) {
        events.subscribe(self, to: BoxProvisioned.self) { me, _ in
            me.count += 1
        } onGap: { _, _ in
        }
    }
}
/// A handler may wait, at a publisher and at a relay; at a relay it may throw, too, and gets the stamp if it takes it.
@MainActor final class Slow {
    var count = 0
    func save(_ event: BoxRemoved) async throws { count += 1 }
    func start(_ relay: EventRelay) throws -> [Subscription] {
        try relay.subscribe(self, to: BoxRemoved.self) {
            try await $0.save($1)
        } onGap: { _, _ in
        }
        return [
            relay.publisher.subscribe(to: BoxRemoved.self) { _ in
                await Task.yield()
            } onGap: { _ in
                await Task.yield()
            },
            try relay.subscribe(to: BoxRemoved.self) {
                try await self.save($0)
            } onGap: { _ in
            },
            try relay.subscribe(to: BoxRemoved.self) {
                try await self.save($0)
            } onGap: { _ in
                await wait()
            },
            try relay.subscribe(to: Relocation1.self, from: .beginning) { event, stamp in
                self.count = Int(stamp.sequence)
            } onGap: { _ in
            },
            try relay.subscribe(to: BoxRemoved.self, inOrderOf: \.boxID) {
                try await self.save($0)
            } onGap: { _ in
            },
        ]
    }
}
final class Audit: Sendable { func note(_ event: BoxRemoved) {} }
func start(_ events: EventPublisher, _ audit: Audit) -> Subscription {
    events.subscribe(audit, to: BoxRemoved.self) {
        $0.note($1)
    } onGap: { _, _ in
    }
    return events.subscribe(to: BoxRemoved.self, delivery: .immediate) {
        print($0.boxID)
    } onGap: { _ in
    }
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
