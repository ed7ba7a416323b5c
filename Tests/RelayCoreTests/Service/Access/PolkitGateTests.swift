import Glibc
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore
import RelayInspection
import RelayWire

@Suite("Calls that polkit decides about", .heavy, .tags(.g7)) struct PolkitGateTests {
    private static let notPermitted = "org.eventrelay.Error.NotPermitted"
    private static let unavailable = "org.eventrelay.Error.Unavailable"
    private let bus: PrivateBus
    private var system: Bus { .system(at: bus.address) }

    init() throws { bus = try PrivateBus() }

    private func call(_ member: String, isInteractive: Bool = false) -> MethodCall {
        MethodCall(
            to: WatchedDesk.name, path: WatchedDesk.path(Watched1.name), interface: Watched1.name, member: member,
            flags: isInteractive ? .allowInteractiveAuthorization : [])
    }

    @Test("G7: every guarded member is refused and allowed by polkit's word, at each call anew") func members()
        async throws
    {
        let authority = try await FakeAuthority.join(system) { _ in .no }
        let desk = try await WatchedDesk(system)
        let peer = try await BusStranger.join(system)
        let guarded = try desk.guarded()
        #expect(guarded.count >= 19)
        for one in guarded {
            let refusal = try await desk.refusal(one, of: peer)
            #expect(refusal?.name == Self.notPermitted, "\(one): \(String(describing: refusal))")
            #expect(refusal?.message.contains(one.action) == true, "\(one): \(String(describing: refusal))")
            #expect(
                refusal?.message.contains(peer.connection.uniqueName) == true
                    && refusal?.message.contains("user ") == true)
        }
        #expect(authority.questions.map(\.action) == guarded.map(\.action))
        #expect(authority.questions.allSatisfy { $0.peer == peer.connection.uniqueName && $0.flags == 0 })
        #expect(desk.service.metrics.streams.first?.notPermitted == guarded.count)
        #expect(desk.service.metrics.notices[Notice.Kind.notPermitted.rawValue] == guarded.count)
        #expect(desk.runs.withLock { $0 } == [])
        authority.rule { _ in .yes }
        for one in guarded {
            let refusal = try await desk.refusal(one, of: peer)
            #expect(refusal?.name != Self.notPermitted, "\(one): \(String(describing: refusal))")
        }
        #expect(authority.questions.count == 2 * guarded.count)
        #expect(Set(desk.runs.withLock { $0 }) == ["Peek", "Touch"])
        // One action does not stand for another.
        authority.rule { $0.action.hasSuffix("follow") ? .yes : .no }
        #expect(await peer.refusal(desk.service.name, WatchedDesk.path(Watched1.name), Watched1.name, "Peek") == nil)
        let touch = await peer.refusal(desk.service.name, WatchedDesk.path(Watched1.name), Watched1.name, "Touch")
        #expect(touch?.name == Self.notPermitted)
        try await desk.stop()
    }
    @Test("only a command whose caller waits for a person lets polkit ask one") func interaction() async throws {
        let authority = try await FakeAuthority.join(system) { $0.flags == 1 ? .yes : .person }
        let desk = try await WatchedDesk(system)
        let peer = try await BusStranger.join(system)
        _ = try await peer.connection.call(call("Touch", isInteractive: true))
        await #expect(throws: RelayError.self) { _ = try await peer.connection.call(call("Touch")) }
        await #expect(throws: RelayError.self) { _ = try await peer.connection.call(WatchedDesk.attach()) }
        #expect(authority.questions.map(\.flags) == [1, 0, 0])
        #expect(authority.questions.map { !$0.cancellation.isEmpty } == [true, false, false])
        // A relay's commands are such calls.
        let relay = try EventRelay(following: WatchedDesk.name, on: system, interfaces: Watched1.self)
        relay.activate()
        _ = await relay.outcome(of: Touch())
        #expect(authority.questions.last?.flags == 1)
        relay.invalidate()
        try await desk.stop()
    }
    @Test("a command that waits for a person is overtaken; what reads events is not") func order() async throws {
        let authority = try await FakeAuthority.join(system) { _ in .later }
        let desk = try await WatchedDesk(system)
        let peer = try await BusStranger.join(system)
        let prompt = Mutex<Result<BusReply, RelayError>?>(nil)
        peer.connection.send(call("Touch", isInteractive: true)) { result in prompt.withLock { $0 = result } }
        _ = try await peer.connection.call(call("Free"))
        #expect(desk.runs.withLock { $0 } == ["Free"])
        #expect(await eventually { authority.waiting.map(\.action) == ["org.example.watched.manage"] })
        #expect(await desk.onLoop { $0.unsettled } != nil)
        authority.settle(.yes)
        #expect(await eventually { prompt.withLock { $0 != nil } })
        #expect(desk.runs.withLock { $0 } == ["Free", "Touch"])
        // What comes behind an `Attach` waits for it.
        let answers = Mutex<[String]>([])
        peer.connection.send(try WatchedDesk.attach()) { _ in answers.withLock { $0.append("Attach") } }
        peer.connection.send(call("Free")) { _ in answers.withLock { $0.append("Free") } }
        #expect(await eventually { authority.waiting.count == 1 })
        _ = try await peer.call(WatchedDesk.name, "/", "org.freedesktop.DBus.Peer", "Ping")
        #expect(answers.withLock { $0 } == [] && desk.runs.withLock { $0 }.count == 2)
        authority.settle(.yes)
        #expect(await eventually { answers.withLock { $0 } == ["Attach", "Free"] })
        try await desk.stop()
    }
    @Test("a command that waits for polkit can be cancelled, and does not run") func cancellation() async throws {
        let authority = try await FakeAuthority.join(system) { _ in .later }
        let desk = try await WatchedDesk(system)
        let peer = try await BusStranger.join(system)
        let outcomes = Mutex<[RelayError.Code?]>([])
        func begin(_ call: MethodCall) -> UInt32 {
            peer.connection.send(call) { result in
                var code: RelayError.Code?
                if case .failure(let error) = result { code = error.code }
                outcomes.withLock { $0.append(code) }
            }
        }
        func cancel(_ serial: UInt32) async throws {
            _ = try await peer.call(
                WatchedDesk.name, WatchedDesk.path(Watched1.name), Stream1.name, "Cancel", [.uint32(serial)])
        }
        let prompt = begin(call("Touch", isInteractive: true))
        #expect(await eventually { authority.waiting.count == 1 })
        try await cancel(prompt)
        #expect(await eventually { outcomes.withLock { $0 } == [.cancelled] })
        #expect(await eventually { authority.cancellations.count == 1 })
        // Behind an `Attach` that waits.
        _ = begin(try WatchedDesk.attach())
        let behind = begin(call("Free"))
        #expect(await eventually { authority.waiting.count == 2 })
        try await cancel(behind)
        #expect(await eventually { outcomes.withLock { $0 } == [.cancelled, .cancelled] })
        authority.settle(.yes)
        #expect(await eventually { outcomes.withLock { $0 } == [.cancelled, .cancelled, nil] })
        #expect(desk.runs.withLock { $0 } == [])
        try await desk.stop()
    }
    @Test("prompts are bounded, and end with the peer or the service") func prompts() async throws {
        let authority = try await FakeAuthority.join(system) { _ in .later }
        let desk = try await WatchedDesk(system)
        let (peer, other) = (try await BusStranger.join(system), try await BusStranger.join(system))
        let limit = PeerResource.prompts.bounds.peer
        for _ in 0..<limit { peer.connection.send(call("Touch", isInteractive: true)) { _ in } }
        do {
            _ = try await peer.connection.call(call("Touch", isInteractive: true))
            Issue.record("one too many")
        } catch {
            #expect((error as? RelayError)?.code == .limitsExceeded, "\(error)")
        }
        #expect(await eventually { authority.waiting.count == limit })
        let names = Set(authority.waiting.map(\.cancellation))
        #expect(names.count == limit)
        peer.connection.close()
        #expect(await eventually { Set(authority.cancellations) == names })
        // An answer that comes now is nobody's.
        authority.settle(.yes)
        let answer = Mutex<Result<BusReply, RelayError>?>(nil)
        other.connection.send(call("Touch", isInteractive: true)) { result in answer.withLock { $0 = result } }
        #expect(await eventually { authority.waiting.count == 1 })
        try await desk.stop()
        #expect(await eventually { answer.withLock { $0 != nil } })
        #expect(throws: RelayError.self) { _ = try answer.withLock { try $0?.get() } }
        #expect(await eventually { authority.cancellations.count == limit + 1 })
        #expect(desk.runs.withLock { $0 } == [])
    }
    @Test("G7: nothing is permitted while polkit cannot be asked") func unreachable() async throws {
        let desk = try await WatchedDesk(system)
        let peer = try await BusStranger.join(system)
        func outcome() async throws -> [RemoteError?] {
            var all: [RemoteError?] = []
            for one in try desk.guarded() { all.append(try await desk.refusal(one, of: peer)) }
            return all
        }
        for refusal in try await outcome() {
            #expect(refusal?.name == Self.unavailable, "\(String(describing: refusal))")
            #expect(refusal?.message.contains("polkit did not answer") == true, "\(String(describing: refusal))")
        }
        let authority = try await FakeAuthority.join(system) { _ in .nonsense }
        for refusal in try await outcome() { #expect(refusal?.name == Self.unavailable) }
        authority.rule { _ in .error("org.freedesktop.PolicyKit1.Error.Failed") }
        for refusal in try await outcome() {
            #expect(refusal?.name == Self.unavailable && refusal?.message.contains("OPERATING") == true)
        }
        #expect(desk.runs.withLock { $0 } == [])
        // It leaves with a question open.
        authority.rule { _ in .later }
        let open = Task { await peer.refusal(WatchedDesk.name, WatchedDesk.path(Watched1.name), Watched1.name, "Peek") }
        #expect(await eventually { !authority.waiting.isEmpty })
        authority.leave()
        #expect(await open.value?.name == Self.unavailable)
        try await desk.stop()
    }
    @Test("polkit is refused where it makes no sense") func misplaced() async throws {
        func text(_ body: () throws -> Void) -> String {
            do { try body() } catch { return "\(error)" }
            return "no error"
        }
        let session = text {
            _ = try EventService(name: WatchedDesk.name, on: .session, exporting: Flow1.self)
        }
        #expect(session.contains("InvalidArgument") && session.contains("system bus only"), "\(session)")
        let ownBus = text {
            _ = try EventService(name: WatchedDesk.name, on: bus.bus, exporting: Flow1.self)
        }
        #expect(ownBus.contains("system bus only"), "\(ownBus)")
        let relay = text {
            _ = try EventRelay(
                following: WatchedDesk.name, on: .system, interfaces: Flow1.self,
                requiring: .user("root") || .polkit(action: "org.example.a"))
        }
        #expect(relay.contains("InvalidArgument") && relay.contains("not who a service is"), "\(relay)")
        let unit = text {
            _ = try EventRelay(following: WatchedDesk.name, interfaces: Flow1.self, requiring: .systemdUnit("backup"))
        }
        #expect(unit.contains("InvalidArgument") && unit.contains("'backup' is no systemd unit"), "\(unit)")
    }
}
