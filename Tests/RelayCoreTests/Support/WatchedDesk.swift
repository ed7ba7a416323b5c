import Glibc
import RelayTestKit
import Synchronization
import Testing

@testable import RelayCore

enum Watched1: EventInterface {
    static let name = "org.example.Watched1"
    static let signalBudget = SignalBudget.unlimited
    static let ringCapacity = 64 << 10
    static var requirement: PeerRequirement { .polkit(action: "org.example.watched.follow") }
    static var contract: Contract<Self> {
        Seen.self
        Peek.self
        Touch.self
        Free.self
    }
}
struct Seen: DomainEvent, Equatable {
    typealias Interface = Watched1
    var number: Int64
}
/// For those that may follow.
struct Peek: Command { typealias Interface = Watched1 }
/// For those that may manage.
struct Touch: Command {
    typealias Interface = Watched1
    static var requirement: PeerRequirement { .polkit(action: "org.example.watched.manage") }
}
struct Free: Command {
    typealias Interface = Watched1
    static var requirement: PeerRequirement { .anyone }
}
enum Flow1: EventInterface {
    static let name = "org.example.Flow1"
    static let durability = Volatile()
    static let signalBudget = SignalBudget.unlimited
    static let ringCapacity = 1 << 20
    static var requirement: PeerRequirement { .polkit(action: "org.example.watched.follow") }
    static var contract: Contract<Self> { Flowed.self }
}
struct Flowed: DomainEvent, Equatable {
    typealias Interface = Flow1
    var number: Int64
}

/// A service whose callers polkit decides about, on a bus that stands for the machine's.
final class WatchedDesk: Sendable {
    static let name = "org.example.Watched"
    let bus: Bus
    let service: EventService
    let notices = RecordedNotices()
    /// The commands that have run, with their peers.
    let runs = Mutex<[String]>([])
    private let running: Task<Void, any Error>

    init(_ bus: Bus) async throws {
        let service = try EventService(
            name: Self.name, on: bus, exporting: Watched1.self, Flow1.self, journal: MemoryLog(),
            onNotice: notices.record)
        (self.bus, self.service) = (bus, service)
        let (ready, isReady) = AsyncStream.makeStream(of: Void.self)
        let start = Mutex<CheckedContinuation<Void, Never>?>(nil)
        running = Task {
            await withCheckedContinuation { continuation in start.withLock { $0 = continuation } }
            defer { isReady.finish() }
            try await service.run { isReady.finish() }
        }
        service.handle(Peek.self) { [weak self] _, context in self?.note("Peek", context) }
        service.handle(Touch.self) { [weak self] _, context in self?.note("Touch", context) }
        service.handle(Free.self) { [weak self] _, context in self?.note("Free", context) }
        #expect(await eventually { start.withLock { $0 != nil } })
        start.withLock { $0 }?.resume()
        for await _ in ready {}
    }
    private func note(_ name: String, _ context: CommandContext) { runs.withLock { $0.append(name) } }
    func stop() async throws {
        running.cancel()
        try await running.value
    }
    static func path(_ interface: String) -> String { Stream1.path(of: interface) }

    /// One call of each kind that polkit guards on an interface.
    struct Guarded: Sendable {
        let interface: String
        let member: String
        let action: String
        var values: [DBusValue] = []
        var isWithSocket = false
    }
    /// All of them, made from what the interface offers: a method that comes later is not forgotten.
    func guarded() throws -> [Guarded] {
        let follow = "org.example.watched.follow"
        let all = DBusValue.array(.string, [.string("*")])
        let page: [DBusValue] = [all, .uint64(0), .uint32(10), .uint64(0)]
        let arguments: [String: [DBusValue]] = [
            "Attach": [.uint64(0), .uint64(0), all, AttachOptions().value], "Read": page, "Replay": page,
            "Barrier": [], "GetDocument": [.string("Anything")], "OpenReplay": [], "OpenRing": [], "Schemas": [],
            "Status": [],
        ]
        var found: [Guarded] = []
        // What gives something back, or concerns the caller's own calls, needs no permission.
        let free = ["CloseRing", "Cancel"]
        for method in Stream1.description.methods.map(\.name) where !free.contains(method) {
            let values = try #require(arguments[method], "\(method) is new: is it guarded?")
            found.append(
                Guarded(
                    interface: Stream1.name, member: method, action: follow, values: values,
                    isWithSocket: method == "OpenReplay"))
        }
        let properties = StandardInterfaces.properties.name
        for name in [Stream1.name, Watched1.name, ""] {
            found.append(
                Guarded(
                    interface: properties, member: "Get", action: follow, values: [.string(name), .string("Epoch")]))
            found.append(Guarded(interface: properties, member: "GetAll", action: follow, values: [.string(name)]))
        }
        let commands = try #require(service.core.interfaces.first).commands.values
        for command in commands.sorted(by: { $0.name < $1.name }) where !command.requirement.isAnyone {
            let action = command.name == Touch.name ? "org.example.watched.manage" : follow
            found.append(Guarded(interface: Watched1.name, member: command.name, action: action))
        }
        return found
    }
    /// What a peer gets for such a call; nil: a reply.
    func refusal(_ one: Guarded, of peer: BusStranger) async throws -> RemoteError? {
        let path = Self.path(Watched1.name)
        guard one.isWithSocket else {
            return await peer.refusal(Self.name, path, one.interface, one.member, one.values)
        }
        var pair: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
        defer { close(pair[0]) }
        var call = MethodCall(to: Self.name, path: path, interface: one.interface, member: one.member)
        call.descriptors = [ReceivedDescriptor(pair[1])]
        do {
            _ = try await peer.connection.call(call)
            return nil
        } catch {
            return (error as? RelayError)?.cause as? RemoteError
        }
    }
}
