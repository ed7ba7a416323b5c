import CSDBus
import Glibc
import PeerSupport
import RelayCore
import RelayJournal
import Synchronization

/// What command-bench blocks: a service, callers of a command that sleeps, and one that measures what others notice.
///
/// Spoken to as the other roles are: "ready", a line, an answer.
enum Blocking {
    /// False: the words are none of these roles'.
    static func run(_ words: [String]) async throws -> Bool {
        guard words.count == 3 else { return false }
        let bus = Bus.address(words[1])
        switch words[0] {
        case "blocked": try await serve(on: bus, in: words[2])
        case "hold": try await hold(on: bus, callers: Int(words[2]) ?? 0)
        case "notice": try await notice(at: words[1], seconds: Double(words[2]) ?? 0)
        default: return false
        }
        return true
    }

    private static func serve(on bus: Bus, in directory: String) async throws {
        let journal = try EventJournal(directory: directory)
        let service = try EventService(name: PEER_SERVICE, on: bus, exporting: BenchBlocked1.self, journal: journal)
        service.handle(Greet.self) { _, _ in }
        service.handle(Hold.self) { command, _ in
            usleep(UInt32(command.seconds * 1e6))
        }
        service.handle(Book.self) { command, _, unit in
            try unit.publish(Booked(sentAt: command.sentAt))
        }
        try await service.run { peer_serve() }
    }
    /// Each by a connection of its own: a service runs the commands of one caller one at a time.
    private static func hold(on bus: Bus, callers: Int) async throws {
        var relays: [EventRelay] = []
        for _ in 0..<callers { relays.append(try await relay(on: bus)) }
        peer_ready()
        peer_wait_for_go()
        await withTaskGroup(of: Void.self) { group in
            for relay in relays {
                group.addTask {
                    do { _ = try await relay.call(Hold(seconds: 10), timeout: .seconds(60)) } catch {
                        peer_fail("hold", "\(error)")
                    }
                }
            }
        }
        print("{\"held\": \(callers)}")
        fflush(nil)
    }
    private static func notice(at address: String, seconds: Double) async throws {
        let relay = try await relay(on: .address(address))
        let times = Times()
        let events = try relay.subscribe(to: Booked.self) { event in
            times.event(peer_now() - event.sentAt)
        } onGap: { _ in
        }
        // As often as it takes to prove that a command is short.
        for _ in 0..<100 {
            _ = try await relay.call(Greet())
            _ = try await relay.call(Book(sentAt: peer_now()))
        }
        times.removeAll()
        let status = try StatusQuestion(address)
        peer_ready()
        peer_wait_for_go()
        let end = peer_now() + UInt64(seconds * 1e9)
        while peer_now() < end {
            let start = peer_now()
            _ = try await relay.call(Greet())
            let between = peer_now()
            times.command(between - start)
            _ = try await relay.call(Book(sentAt: between))
            times.commit(peer_now() - between)
            let asked = peer_now()
            try status.ask()
            times.status(peer_now() - asked)
        }
        print(times.line)
        fflush(nil)
        withExtendedLifetime(events) { relay.invalidate() }
    }
    private static func relay(on bus: Bus) async throws -> EventRelay {
        let relay = try EventRelay(following: PEER_SERVICE, on: bus, interfaces: BenchBlocked1.self)
        relay.activate()
        for await state in relay.states {
            if case .active = state { break }
            if case .invalidated(let error) = state { throw error }
        }
        return relay
    }
}

/// How long things took, in nanoseconds.
private final class Times: Sendable {
    struct Lists {
        var command: [UInt64] = []
        var commit: [UInt64] = []
        var event: [UInt64] = []
        var status: [UInt64] = []
    }
    private let lists = Mutex(Lists())

    func command(_ time: UInt64) { lists.withLock { $0.command.append(time) } }
    func commit(_ time: UInt64) { lists.withLock { $0.commit.append(time) } }
    func event(_ time: UInt64) { lists.withLock { $0.event.append(time) } }
    func status(_ time: UInt64) { lists.withLock { $0.status.append(time) } }
    func removeAll() { lists.withLock { $0 = Lists() } }
    /// The 99th percentiles, in microseconds.
    var line: String {
        let lists = lists.withLock { $0 }
        func p99(_ times: [UInt64]) -> Double {
            times.isEmpty ? 0 : Double(times.sorted()[times.count * 99 / 100]) / 1e3
        }
        return """
            {"command": \(p99(lists.command)), "commit": \(p99(lists.commit)), "event": \(p99(lists.event)), \
            "status": \(p99(lists.status))}
            """
    }
}

/// `Status`, as any client of D-Bus asks for it.
private final class StatusQuestion {
    private var bus: OpaquePointer?
    private let path = "/" + BenchBlocked1.name.split(separator: ".").joined(separator: "/")

    init(_ address: String) throws {
        try check(sd_bus_new(&bus))
        try check(sd_bus_set_address(bus, address))
        try check(sd_bus_set_bus_client(bus, 1))
        try check(sd_bus_start(bus))
    }
    deinit { sd_bus_flush_close_unref(bus) }
    func ask() throws {
        var (call, reply): (OpaquePointer?, OpaquePointer?)
        defer {
            sd_bus_message_unref(call)
            sd_bus_message_unref(reply)
        }
        try check(sd_bus_message_new_method_call(bus, &call, PEER_SERVICE, path, "org.eventrelay.Stream1", "Status"))
        try check(sd_bus_call(bus, call, 0, nil, &reply))
    }
    private func check(_ result: Int32) throws {
        if result < 0 { throw RelayError(.unavailable, "the status: \(String(cString: strerror(-result)))") }
    }
}

/// What is called there.
enum BenchBlocked1: EventInterface {
    static let name = "org.eventrelay.BenchBlocked1"
    @ContractBuilder<Self> static var contract: Contract<Self> {
        Booked.self
        Greet.self
        Hold.self
        Book.self
    }
}
struct Booked: DomainEvent {
    typealias Interface = BenchBlocked1
    let sentAt: UInt64
}
struct Greet: Command { typealias Interface = BenchBlocked1 }
/// Sleeps in its handler.
struct Hold: Command {
    typealias Interface = BenchBlocked1
    let seconds: Double
}
/// Commits an event.
struct Book: Command {
    typealias Interface = BenchBlocked1
    let sentAt: UInt64
}
