import Glibc
import RelayTestKit
import Synchronization
import Testing

@testable import RelayCore
import RelayWire

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
        Ledger.self
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
/// For those that may follow; to be changed by those that may manage.
struct Ledger: EditableDocument {
    typealias Interface = Watched1
    var total: Int64
    static let initial = Self(total: 0)
    static var submitRequirement: PeerRequirement { .polkit(action: "org.example.watched.manage") }
}
enum Flow1: EventInterface {
    static let name = "org.example.Flow1"
    static let durability = Volatile()
    static let signalBudget = SignalBudget.unlimited
    static let ringCapacity = 1 << 20
    static var requirement: PeerRequirement { .polkit(action: "org.example.watched.follow") }
    static var contract: Contract<Self> {
        Flowed.self
        Level.self
    }
}
struct Flowed: DomainEvent, Equatable {
    typealias Interface = Flow1
    var number: Int64
}

struct Level: DomainDocument {
    typealias Interface = Flow1
    var height: Int64
    static let initial = Self(height: 0)
}

/// A service whose callers polkit decides about, on a bus that stands for the machine's.
final class WatchedDesk: Sendable {
    static let name = "org.example.Watched"
    let bus: Bus
    let service: EventService
    let notices = NoticeRecorder()
    /// The commands that have run, with their peers.
    let runs = Mutex<[String]>([])
    private let running: Task<Void, any Error>

    init(_ bus: Bus, timing: ServiceTiming = ServiceTiming()) async throws {
        let service = try EventService(
            Self.name, bus, [Watched1.self, Flow1.self], journal: MemoryLog(), timing: timing, notices.record)
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
    func onLoop<Value: Sendable>(_ body: @escaping @Sendable (ServiceCore) -> Value) async -> Value {
        let core = service.core
        return await withCheckedContinuation { continuation in
            core.loop.execute { continuation.resume(returning: body(core)) }
        }
    }
    /// To all of the durable interface, by a peer that waits for a person.
    static func attach() throws -> MethodCall {
        var body = WireWriter()
        let request = AttachRequest(epoch: 0, after: 0, names: ["*"], options: AttachOptions())
        try Stream1.write(request, into: &body)
        return MethodCall(
            to: name, path: path(Watched1.name), interface: Stream1.name, member: "Attach",
            signature: try Signature(Stream1.attachSignature), body: body.bytes,
            flags: .allowInteractiveAuthorization)
    }

    /// One call of each kind that a requirement guards on an interface.
    struct Guarded: Sendable {
        /// The one that is guarded, and the one of the call.
        let object: String
        let interface: String
        let member: String
        /// What polkit is asked about.
        let action: String
        var values: [DBusValue] = []
        /// The same for busctl.
        var text: [String] = []
        var isWithSocket = false
    }
    func guarded() throws -> [Guarded] {
        try Self.guarded(try #require(service.core.interfaces.first), document: "Ledger") { command in
            [Touch.name, "SubmitLedger"].contains(command)
                ? "org.example.watched.manage" : "org.example.watched.follow"
        }
    }
    /// All of them, made from what the interface offers: a method that comes later is not forgotten.
    ///
    /// - Parameter document: the interface's, of one field of type `x`; it can be submitted.
    /// - Parameter action: of a command, or of what reads events.
    static func guarded(
        _ interface: ExportedInterface, document: String, action: (String?) -> String
    ) throws -> [Guarded] {
        func one(_ name: String, _ member: String, _ values: [DBusValue], _ text: [String], of command: String? = nil)
            -> Guarded
        {
            Guarded(
                object: interface.name, interface: name, member: member, action: action(command), values: values,
                text: text)
        }
        let all = DBusValue.array(.string, [.string("*")])
        let page: [DBusValue] = [all, .uint64(0), .uint32(10)]
        let pageText = [Stream1.readSignature, "1", "*", "0", "10"]
        let arguments: [String: ([DBusValue], [String])] = [
            "Attach": (
                [.uint64(0), .uint64(0), all, AttachOptions().value],
                [Stream1.attachSignature, "0", "0", "1", "*", "0"]
            ),
            "Runs": ([.uint64(0), .uint32(10)], [Stream1.runsSignature, "0", "10"]), "Read": (page, pageText),
            "Replay": (page, pageText), "Barrier": ([], []),
            "GetDocument": ([.string(document)], ["s", document]), "OpenReplay": ([], []), "OpenRing": ([], []),
            "Schemas": ([], []), "Status": ([], []),
        ]
        var found: [Guarded] = []
        // What gives something back, concerns the caller's own calls, or says what introspection says, needs no permission.
        let free = ["CloseRing", "Cancel", "Received", "Contract"]
        for method in Stream1.description.methods.map(\.name) where !free.contains(method) {
            let (values, text) = try #require(arguments[method], "\(method) is new: is it guarded?")
            found.append(one(Stream1.name, method, values, text))
            found[found.count - 1].isWithSocket = method == "OpenReplay"
        }
        let properties = StandardInterfaces.properties.name
        for (name, property) in [
            (Stream1.name, "Epoch"), (interface.name, document), (interface.name, "No"), ("", "Epoch"),
        ] {
            found.append(one(properties, "Get", [.string(name), .string(property)], ["ss", name, property]))
            if property != "No" { found.append(one(properties, "GetAll", [.string(name)], ["s", name])) }
        }
        for command in interface.commands.values.sorted(by: { $0.name < $1.name }) where !command.requirement.isAnyone {
            let isSubmission = command.name == "Submit\(document)"
            let values: [DBusValue] = [.structure([.int64(1)]), .uint64(0), .uint64(0), .array(.string, [])]
            found.append(
                one(
                    interface.name, command.name, isSubmission ? values : [],
                    isSubmission ? ["(x)ttas", "1", "0", "0", "0"] : [], of: command.name))
        }
        return found
    }
    /// What a peer gets for such a call; nil: a reply.
    func refusal(_ one: Guarded, of peer: BusStranger) async throws -> RemoteError? {
        try await Self.refusal(one, of: peer, at: Self.name)
    }
    static func refusal(_ one: Guarded, of peer: BusStranger, at service: String) async throws -> RemoteError? {
        let path = Self.path(one.object)
        guard one.isWithSocket else {
            return await peer.refusal(service, path, one.interface, one.member, one.values)
        }
        var pair: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
        defer { close(pair[0]) }
        var call = MethodCall(to: service, path: path, interface: one.interface, member: one.member)
        call.descriptors = [ReceivedDescriptor(pair[1])]
        do {
            _ = try await peer.connection.call(call)
            return nil
        } catch {
            return (error as? RelayError)?.cause as? RemoteError
        }
    }
}
