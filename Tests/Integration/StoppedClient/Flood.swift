import Glibc
import RelayCore
import RelayTestKit
import Synchronization
import Testing

enum Pouring1: EventInterface {
    static let name = "org.example.Pouring1"
    static let durability = Volatile()
    static let signalBudget = SignalBudget.unlimited
    static var contract: Contract<Self> {
        PouredOut.self
        Ask.self
    }
}
struct PouredOut: DomainEvent {
    typealias Interface = Pouring1
    var number: Int64, bytes: [UInt8]
}
struct Ask: Command {
    typealias Interface = Pouring1
    var number: Int64
    struct Reply: Codable, Sendable { var number: Int64 }
}
enum Metered1: EventInterface {
    static let name = "org.example.Metered1"
    static let durability = Volatile()
    static var contract: Contract<Self> { Measured.self }
}
struct Measured: DomainEvent {
    typealias Interface = Metered1
    var number: Int64, bytes: [UInt8]
}

/// A service that publishes much, a relay that is to see all of it, and calls all the time.
final class Flood: Sendable {
    static let name = "org.example.Flood"
    struct Seen: Sendable {
        var count = 0
        /// Events out of order, and gaps.
        var faults = 0
    }
    let bus: PrivateBus
    let calls: CallTimes
    let notices = NoticeRecorder()
    private let isUnlimited: Bool
    private let service: EventService
    private let relay: EventRelay
    private let caller: EventRelay
    private let count = Mutex(0)
    private let following = Mutex(Seen())
    private let tasks = Mutex<[Task<Void, Never>]>([])
    private let running: Task<Void, any Error>

    var published: Int { count.withLock { $0 } }
    var seen: Seen { following.withLock { $0 } }

    /// Returns when all are connected.
    init(on bus: PrivateBus, isUnlimited: Bool) async throws {
        (self.bus, self.isUnlimited) = (bus, isUnlimited)
        let service = try EventService(
            name: Self.name, on: bus.bus, exporting: Pouring1.self, Metered1.self, onNotice: notices.record)
        service.handle(Ask.self) { ask, _ in Ask.Reply(number: ask.number) }
        self.service = service
        running = Task { try await service.run() }
        relay = try EventRelay(following: Self.name, on: bus.bus, interfaces: Pouring1.self, Metered1.self)
        caller = try EventRelay(following: Self.name, on: bus.bus, interfaces: Pouring1.self)
        calls = CallTimes(caller)
        if isUnlimited {
            follow(relay.publisher.events(of: PouredOut.self, buffer: .bufferingNewest(1 << 20))) { $0.number }
        } else {
            follow(relay.publisher.events(of: Measured.self, buffer: .bufferingNewest(1 << 20))) { $0.number }
        }
        relay.activate()
        caller.activate()
        for await state in relay.states { if case .active = state { break } }
        #expect(await eventually { (try? await self.caller.call(Ask(number: 1))) != nil })
        calls.start()
    }
    private func follow<E: DomainEvent>(_ stream: EventStream<E>, _ number: @escaping @Sendable (E) -> Int64) {
        let task = Task { [weak self] in
            for await delivery in stream {
                guard let self else { return }
                following.withLock { seen in
                    guard case .event(let event, _) = delivery, number(event) == seen.count + 1 else {
                        seen.faults += 1
                        return
                    }
                    seen.count += 1
                }
            }
        }
        tasks.withLock { $0.append(task) }
    }
    /// Publishes so much, in events of 4, 16 and 64 KiB; at least one.
    func publish(mebibytes: Double) throws {
        var left = Int(mebibytes * 1_048_576)
        repeat {
            let number = count.withLock { count in
                count += 1
                return count
            }
            let size = [4, 16, 64][number % 3] << 10
            // A C string in bytes: what gdbus prints as text.
            let bytes = [UInt8](repeating: UInt8(ascii: "x"), count: size - 1) + [0]
            if isUnlimited {
                try service.publish(PouredOut(number: Int64(number), bytes: bytes))
            } else {
                try service.publish(Measured(number: Int64(number), bytes: bytes))
            }
            left -= size
        } while left > 0
    }
    /// The same, never more than a mebibyte ahead of the relay: a ring holds four.
    func pour(mebibytes: Int) async throws {
        for _ in 0..<mebibytes {
            try publish(mebibytes: 1)
            let last = published
            #expect(await eventually { seen.count + 12 >= last })
        }
    }
    /// What the bus holds, as its tools tell, and what it must not come near.
    func busFigures() async throws -> (held: Int, limit: Int) {
        let stats = "org.freedesktop.DBus.Debug.Stats"
        let daemon = "org.freedesktop.DBus"
        func ask(_ arguments: [String]) async throws -> [String] {
            let call = ["--address=\(bus.address)", "call", daemon, "/org/freedesktop/DBus"] + arguments
            let outcome = try await RunningProgram.run("busctl", call, environment: Programs.environment())
            return outcome.output.joined().split(separator: " ").map(String.init)
        }
        let owner = try await ask([daemon, "GetNameOwner", "s", Self.name]).last?.filter { $0 != "\"" } ?? ""
        let own = try await ask([stats, "GetConnectionStats", "s", owner])
        if let place = own.firstIndex(of: "\"IncomingBytes\""), let held = Int(own[place + 2]) {
            return (held, 48 << 20)
        }
        // dbus-broker: "Bytes", how many are free, of how many.
        let all = try await ask([stats, "GetStats"])
        let place = try #require(all.firstIndex(of: "\"Bytes\""), "\(all)")
        let (free, room) = (Int(all[place + 1]) ?? 0, Int(all[place + 2]) ?? 0)
        return (room - free, room / 2)
    }
    func stop() async throws {
        for task in tasks.withLock({ $0 }) { task.cancel() }
        relay.invalidate()
        caller.invalidate()
        running.cancel()
        try await running.value
    }
}
