import Glibc
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore
import RelayWire

@Suite("Calls of a service that has another version of the contract", .heavy) struct OtherContractTests {
    private func error(_ body: () async throws -> Void) async -> RelayError? {
        do {
            try await body()
            return nil
        } catch { return error as? RelayError }
    }
    private static func relay<I: EventInterface>(_ bus: PrivateBus, _ interface: I.Type) throws -> EventRelay {
        let relay = try EventRelay(following: MovesService.name, on: bus.bus, interfaces: interface)
        relay.activate()
        return relay
    }

    @Test("arguments and replies have names: in another order, renamed, with optional ones added, nested too")
    func byName() async throws {
        let bus = try PrivateBus()
        let service = try await MovesService.second(bus.bus)
        let relay = try Self.relay(bus, FirstMoves.Moves1.self)
        try await relay.ready(within: .seconds(60))
        #expect(try await relay.call(FirstMoves.Move(from: 1, to: 2)) == FirstMoves.Move.Reply(moved: 2))
        let box = FirstMoves.Box(title: "a", size: 3)
        let packed = try await relay.call(FirstMoves.Pack(boxes: [box, box], byName: ["x": box]))
        #expect(packed == FirstMoves.Pack.Reply(boxes: [box, box]))
        #expect(service.notes == ["1>>2"])
        try await service.stop()
    }
    @Test("a newer program calls an older service; a field that it does not know is refused where it has a value")
    func newer() async throws {
        let bus = try PrivateBus()
        let service = try await MovesService.first(bus.bus)
        let relay = try Self.relay(bus, SecondMoves.Moves1.self)
        try await relay.ready(within: .seconds(60))
        let reply = try await relay.call(SecondMoves.Move(target: 2, speed: nil, from: 1))
        #expect(reply == SecondMoves.Move.Reply(note: nil, moved: 1))
        let refused = await error { _ = try await relay.call(SecondMoves.Move(target: 3, speed: 1, from: 1)) }
        #expect(refused?.code == .schemaMismatch && refused?.mayHaveRun == false)
        #expect(refused?.message.contains("speed") == true, "\(refused?.message ?? "")")
        let light = SecondMoves.Box(weight: nil, size: 1, label: "a")
        let heavy = SecondMoves.Box(weight: 2, size: 1, label: "a")
        let packed = try await relay.call(SecondMoves.Pack(byName: ["x": light], boxes: [light]))
        #expect(packed == SecondMoves.Pack.Reply(count: nil, boxes: [light]))
        let nested = await error { _ = try await relay.call(SecondMoves.Pack(byName: [:], boxes: [light, heavy])) }
        #expect(nested?.code == .schemaMismatch && nested?.mayHaveRun == false)
        #expect(nested?.message.contains("boxes[].weight") == true, "\(nested?.message ?? "")")
        #expect(service.notes == ["1>2"])
        try await service.stop()
    }
    @Test("a required field that either side lacks is a schema mismatch before anything runs, with both shapes")
    func required() async throws {
        let bus = try PrivateBus()
        let service = try await MovesService.second(bus.bus)
        let relay = try Self.relay(bus, FirstMoves.Moves1.self)
        try await relay.ready(within: .seconds(60))
        let old = await error { _ = try await relay.call(FirstMoves.Count(upTo: 1)) }
        #expect(old?.code == .schemaMismatch && old?.mayHaveRun == false)
        for part in ["step", "(upTo: x)", "(upTo: x, step: x)", "nothing was sent"] {
            #expect(old?.message.contains(part) == true, "\(part): \(old?.message ?? "")")
        }
        try await service.stop()
        let former = try await MovesService.first(bus.bus)
        let newer = try Self.relay(bus, OtherReply.Moves1.self)
        try await newer.ready(within: .seconds(60))
        let reply = await error { _ = try await newer.call(OtherReply.Count(upTo: 1)) }
        #expect(reply?.code == .schemaMismatch && reply?.mayHaveRun == false)
        for part in ["total", "(count: x)", "(total: x)", "nothing was sent"] {
            #expect(reply?.message.contains(part) == true, "\(part): \(reply?.message ?? "")")
        }
        let unknown = await error { try await newer.call(OtherReply.Unknown()) }
        #expect(unknown?.code == .notFound && unknown?.mayHaveRun == false)
        #expect(unknown?.message.contains("no command Unknown") == true, "\(unknown?.message ?? "")")
        #expect(service.notes.isEmpty && former.notes.isEmpty)
        try await former.stop()
    }
    @Test("progress has names, too") func progress() async throws {
        let bus = try PrivateBus()
        let service = try await MovesService.second(bus.bus)
        let relay = try Self.relay(bus, FirstMoves.Moves1.self)
        try await relay.ready(within: .seconds(60))
        let running = relay.start(FirstMoves.Move(from: 1, to: 2))
        var seen: [FirstMoves.Move.Progress] = []
        for await progress in running.progress { seen.append(progress) }
        #expect(seen == [FirstMoves.Move.Progress(done: 2, of: 5)])
        #expect(try await running.outcome.get().moved == 2)
        try await service.stop()
    }
    @Test("over an upgrade and back, each call runs once, in its order, with its own values") func upgrades()
        async throws
    {
        let bus = try PrivateBus()
        var service = try await MovesService.first(bus.bus)
        let relay = try Self.relay(bus, FirstMoves.Moves1.self)
        try await relay.ready(within: .seconds(60))
        _ = try await relay.call(FirstMoves.Move(from: 0, to: 100))
        for round in 0..<4 {
            let former = service.notes.count
            #expect(former == (round == 0 ? 1 : 5))
            try await service.stop()
            service = try await round % 2 == 0 ? MovesService.second(bus.bus) : MovesService.first(bus.bus)
            try await relay.ready(within: .seconds(60))
            // Made at once, for what is known of the service that is gone.
            let running = (0..<5).map { relay.start(FirstMoves.Move(from: Int64($0), to: 7), timeout: .seconds(60)) }
            for call in running { _ = try await call.outcome.get() }
            #expect(service.notes == (0..<5).map { round % 2 == 0 ? "\($0)>>7" : "\($0)>7" })
        }
        try await service.stop()
    }
    @Test("a call with file descriptors asks the present owner first, and is sent once") func descriptors()
        async throws
    {
        let bus = try PrivateBus()
        let first = try await MovesService.first(bus.bus)
        let relay = try Self.relay(bus, FirstMoves.Moves1.self)
        try await relay.ready(within: .seconds(60))
        func send(_ text: String) async throws {
            let null = open("/dev/null", O_RDWR | O_CLOEXEC)
            defer { close(null) }
            try await relay.call(FirstMoves.Send(text: text, into: TransferredDescriptor(duplicating: null)))
        }
        try await send("a")
        try await first.stop()
        let second = try await MovesService.second(bus.bus)
        try await relay.ready(within: .seconds(60))
        try await send("b")
        try await send("c")
        #expect(first.notes == ["send a"] && second.notes == ["send b!", "send c!"])
        try await second.stop()
    }
    @Test("a relay asks once for the contract, with its first command") func questions() async throws {
        let bus = try PrivateBus()
        let monitor = try BusMonitor(
            bus.bus, rules: ["type='method_call',member='Contract'", "type='method_call',member='Move'"],
            timeout: .seconds(60))
        let service = try await MovesService.first(bus.bus)
        let relay = try Self.relay(bus, FirstMoves.Moves1.self)
        try await relay.ready(within: .seconds(60))
        for number in Int64(1)...3 { _ = try await relay.call(FirstMoves.Move(from: number, to: 0)) }
        try await service.stop()
        let next = try await MovesService.first(bus.bus)
        try await relay.ready(within: .seconds(60))
        _ = try await relay.call(FirstMoves.Move(from: 4, to: 0))
        var seen: [String] = []
        #expect(
            await eventually {
                while let message = try? monitor.next() {
                    if message.kind == .methodCall { seen.append(message.member ?? "") }
                }
                return seen.count { $0 == "Move" } == 4
            })
        #expect(seen == ["Contract"] + Array(repeating: "Move", count: 4))
        try await next.stop()
    }
    @Test("a service without Contract has no command, and nothing is sent") func otherService() async throws {
        let bus = try PrivateBus()
        let stranger = try await FakeService.start(
            MovesService.name, FirstMoves.Moves1.name, on: bus.bus, epoch: 1, isDurable: false)
        let relay = try Self.relay(bus, FirstMoves.Moves1.self)
        let failed = await error { _ = try await relay.call(FirstMoves.Move(from: 1, to: 2)) }
        #expect(failed?.mayHaveRun == false && !stranger.calls.contains("Move"), "\(failed?.message ?? "")")
    }
}

/// A later release whose command replies with a field that the first one lacks, and has a command more.
private enum OtherReply {
    enum Moves1: EventInterface {
        static let name = "org.example.Moves1"
        static let durability = Volatile()
        static var contract: Contract<Self> {
            Count.self
            Unknown.self
        }
    }
    struct Count: Command {
        typealias Interface = Moves1
        var upTo: Int64
        struct Reply: Codable, Sendable, Equatable { var total: Int64 }
    }
    struct Unknown: Command { typealias Interface = Moves1 }
}
