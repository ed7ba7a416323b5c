import Glibc
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore
import RelayWire
import RelayInspection

enum Guarded1: EventInterface {
    static let name = "org.example.Guarded1"
    static let durability = Volatile()
    static var contract: Contract<Self> {
        Own.self
        Open.self
    }
}
struct Own: Command {
    typealias Interface = Guarded1
    static var requirement: PeerRequirement { .sameUser }
}
struct Open: Command {
    typealias Interface = Guarded1
    static var requirement: PeerRequirement { .anyone }
}
enum ForUser1: EventInterface {
    static let name = "org.example.ForUser1"
    static let durability = Volatile()
    static var requirement: PeerRequirement { .user("root") }
    static var contract: Contract<Self> { UserTold.self }
}
struct UserTold: DomainEvent {
    typealias Interface = ForUser1
    var number: Int64
}
enum ForGroup1: EventInterface {
    static let name = "org.example.ForGroup1"
    static let durability = Volatile()
    static var requirement: PeerRequirement { .group("root") }
    static var contract: Contract<Self> { GroupTold.self }
}
struct GroupTold: DomainEvent {
    typealias Interface = ForGroup1
    var number: Int64
}

/// For `nobody`, whose number is 65534.
enum Kept1: EventInterface {
    static let name = "org.example.Kept1"
    static var requirement: PeerRequirement { .user("nobody") }
    static var contract: Contract<Self> {
        KeptThing.self
        Look.self
        Shelf.self
    }
}
struct KeptThing: DomainEvent {
    typealias Interface = Kept1
    var number: Int64
}
struct Look: Command { typealias Interface = Kept1 }
struct Shelf: EditableDocument {
    typealias Interface = Kept1
    var count: Int64
    static let initial = Self(count: 0)
}

/// Another user's processes, for real: only root can start them.
@Suite("Peers of another user", .enabled(if: geteuid() == 0, "needs root, to become another user"), .heavy, .tags(.g7))
struct SecondUserTests {
    private static let name = "org.example.Guarded"
    private static let stranger = "65534"

    private func openBus() throws -> PrivateBus {
        let bus = try PrivateBus(limits: .session, policy: "<policy context=\"mandatory\"><allow user=\"*\"/></policy>")
        #expect(chmod(bus.directory, 0o755) == 0 && chmod("\(bus.directory)/bus", 0o666) == 0)
        return bus
    }
    /// Calls as the other user.
    private func call(_ bus: PrivateBus, _ arguments: String...) async throws -> RunningProgram.Outcome {
        try await RunningProgram.run(
            "setpriv",
            [
                "--reuid=\(Self.stranger)", "--regid=\(Self.stranger)", "--clear-groups", "busctl",
                "--address=\(bus.address)", "--timeout=300", "call", Self.name,
            ] + arguments)
    }
    private func path(_ interface: String) -> String { Stream1.path(of: interface) }

    @Test("a command for the same user is refused to another, and one for anyone is not") func command() async throws {
        let bus = try openBus()
        let service = try EventService(name: Self.name, on: bus.bus, exporting: Guarded1.self)
        let runs = Atomic<Int>(0)
        service.handle(Own.self) { _, _ in runs.wrappingAdd(1, ordering: .relaxed) }
        let users = Mutex<[UInt32?]>([])
        service.handle(Open.self) { _, context in users.withLock { $0.append(context.peer.userID) } }
        let ready = Atomic<Bool>(false)
        let running = Task { try await service.run { ready.store(true, ordering: .releasing) } }
        #expect(await eventually { ready.load(ordering: .acquiring) })
        let open = try await call(bus, path(Guarded1.name), Guarded1.name, "Open")
        #expect(open.code == 0, "\(open)")
        #expect(users.withLock { $0 } == [65_534])
        let own = try await call(bus, path(Guarded1.name), Guarded1.name, "Own")
        #expect(own.code != 0)
        #expect(own.errors.joined().contains("Own is for the same user"), "\(own)")
        #expect(own.errors.joined().contains("user 65534"), "\(own)")
        #expect(runs.load(ordering: .relaxed) == 0)
        let peer = try await BusStranger.join(bus.bus)
        #expect(await peer.refusal(Self.name, path(Guarded1.name), Guarded1.name, "Own") == nil)
        #expect(runs.load(ordering: .relaxed) == 1)
        running.cancel()
        try await running.value
    }
    @Test("a restricted interface lets no other user attach, and broadcasts nothing") func restricted() async throws {
        let bus = try openBus()
        let service = try EventService(name: Self.name, on: bus.bus, exporting: ForUser1.self, ForGroup1.self)
        let ready = Atomic<Bool>(false)
        let running = Task { try await service.run { ready.store(true, ordering: .releasing) } }
        #expect(await eventually { ready.load(ordering: .acquiring) })
        let (listener, member) = (try await BusStranger.join(bus.bus), try await BusStranger.join(bus.bus))
        for interface in [ForUser1.name, ForGroup1.name] {
            try await listener.listen(interface)
            let refused = try await call(
                bus, path(interface), Stream1.name, "Attach", Stream1.attachSignature, "0", "0", "1", "*", "0")
            #expect(refused.code != 0, "\(refused)")
            #expect(refused.errors.joined().contains("user 65534"), "\(refused)")
            let properties = "org.freedesktop.DBus.Properties"
            let all = try await call(bus, path(interface), properties, "GetAll", "s", Stream1.name)
            let epoch = try await call(bus, path(interface), properties, "Get", "ss", Stream1.name, "Epoch")
            for outcome in [all, epoch] {
                #expect(outcome.code != 0 && outcome.errors.joined().contains("user 65534"), "\(outcome)")
            }
            #expect(
                await member.refusal(Self.name, path(interface), properties, "GetAll", [.string(Stream1.name)]) == nil)
            _ = try await member.call(
                Self.name, path(interface), Stream1.name, "Attach",
                [.uint64(0), .uint64(0), .array(.string, [.string("*")]), AttachOptions().value])
        }
        try service.publish(UserTold(number: 1))
        try service.publish(GroupTold(number: 2))
        #expect(
            await eventually {
                Set(member.signals.map(\.member)).isSuperset(of: ["UserTold", "GroupTold"])
            })
        _ = try await listener.call(Self.name, "/", "org.freedesktop.DBus.Peer", "Ping")
        #expect(!listener.signals.contains { $0.member.hasSuffix("Told") })
        running.cancel()
        try await running.value
    }
    @Test("each guarded thing is refused to one user, the service's own among them, and allowed to another")
    func everything() async throws {
        let bus = try openBus()
        let notices = NoticeRecorder()
        let service = try EventService(
            name: Self.name, on: bus.bus, exporting: Kept1.self, journal: MemoryLog(), onNotice: notices.record)
        let users = Mutex<[UInt32?]>([])
        service.handle(Look.self) { _, context in users.withLock { $0.append(context.peer.userID) } }
        try await service.start()
        let guarded = try WatchedDesk.guarded(try #require(service.core.interfaces.first), document: "Shelf") { _ in ""
        }
        #expect(guarded.count >= 18)
        var refused: [String] = []
        for user in [0, 1] as [UInt32] {
            let peer = try await BusStranger.join(bus.bus, as: user)
            for one in guarded {
                let refusal = try await WatchedDesk.refusal(one, of: peer, at: Self.name)
                #expect(refusal?.name == "org.eventrelay.Error.NotPermitted", "\(user) \(one)")
                refused.append("\(peer.connection.uniqueName) is user \(user)")
                #expect(refusal?.message.contains(refused[refused.count - 1]) == true, "\(one): \(refusal as Any)")
            }
        }
        #expect(users.withLock { $0 } == [] && service.metrics.streams.first?.notPermitted == refused.count)
        #expect(service.metrics.notices[Notice.Kind.notPermitted.rawValue] == refused.count)
        #expect(notices.all(of: .notPermitted).contains { $0.message.contains(refused[0]) })
        let nobody = try await BusStranger.join(bus.bus, as: 65_534)
        for one in guarded {
            let refusal = try await WatchedDesk.refusal(one, of: nobody, at: Self.name)
            // What is wrong with a call otherwise is no matter of who calls.
            #expect(refusal?.name != "org.eventrelay.Error.NotPermitted", "\(one): \(refusal as Any)")
        }
        #expect(users.withLock { $0 } == [65_534])
        try await service.stop()
    }
    @Test("a relay refuses a service of another user, and takes one of the right user") func service() async throws {
        let bus = try openBus()
        let service = try EventService(name: Self.name, on: bus.bus, exporting: Guarded1.self)
        service.handle(Own.self) { _, _ in }
        service.handle(Open.self) { _, _ in }
        try await service.start()
        for (user, isRight) in [("nobody", false), ("root", true)] {
            let relay = try EventRelay(
                following: Self.name, on: bus.bus, interfaces: Guarded1.self, requiring: .user(user))
            relay.activate()
            let outcome = await relay.outcome(of: Open())
            #expect((try? outcome.get()) != nil ? isRight : !isRight, "\(user): \(outcome)")
            if !isRight {
                #expect("\(outcome)".contains("NotPermitted") || "\(outcome)".contains("notPermitted"), "\(outcome)")
            }
            relay.invalidate()
        }
        try await service.stop()
    }
}
