import RelayTestKit
import TestTraits
import Testing

@testable import RelayCore

/// A contract with enums that have payloads, in two versions; `OpenLamps` is the older one with an open enum.
private enum OldLamps {
    enum Lamps1: EventInterface {
        static let name = "org.example.Lamps1"
        static let durability = Volatile()
        static var contract: Contract<Self> {
            Dim.self
            Panel.self
        }
    }
    enum State: TaggedEnum, Equatable { case off, on(brightness: Int32) }
    struct Dim: Command {
        typealias Interface = Lamps1
        var lamp: Int64
        struct Progress: Codable, Sendable, Equatable { var state: State }
    }
    struct Panel: EditableDocument {
        typealias Interface = Lamps1
        var title: String, state: State
        static let initial = Self(title: "", state: .off)
    }
}
private enum OpenLamps {
    enum Lamps1: EventInterface {
        static let name = OldLamps.Lamps1.name
        static let durability = Volatile()
        static var contract: Contract<Self> {
            Dim.self
            Panel.self
        }
    }
    enum State: OpenTaggedEnum, Equatable { case off, on(brightness: Int32), unknown(UnknownCase) }
    struct Dim: Command {
        typealias Interface = Lamps1
        var lamp: Int64
        struct Progress: Codable, Sendable, Equatable { var state: State }
    }
    struct Panel: EditableDocument {
        typealias Interface = Lamps1
        var title: String, state: State
        static let initial = Self(title: "", state: .off)
    }
}
private enum NewLamps {
    enum Lamps1: EventInterface {
        static let name = OldLamps.Lamps1.name
        static let durability = Volatile()
        static var contract: Contract<Self> {
            Dim.self
            Panel.self
        }
    }
    enum State: TaggedEnum, Equatable { case blinking(times: Int32), on(brightness: Int32), off }
    struct Dim: Command {
        typealias Interface = Lamps1
        var lamp: Int64
        struct Progress: Codable, Sendable, Equatable { var state: State }
    }
    struct Panel: EditableDocument {
        typealias Interface = Lamps1
        var state: State, title: String
        static let initial = Self(state: .off, title: "")
    }
}

@Suite("Enums with payloads in progress and documents", .heavy, .tags(.g2, .g8)) struct EnumFollowingTests {
    private static let name = "org.example.Lamps"
    private static let states: [NewLamps.State] = [.off, .blinking(times: 3), .on(brightness: 7)]
    private static let unknown = UnknownCase(name: "blinking", payload: "(3)")
    private let bus: PrivateBus
    init() throws { bus = try PrivateBus() }

    private func serve(_ body: (EventService) async throws -> Void) async throws {
        let service = try EventService(name: Self.name, on: bus.bus, exporting: NewLamps.Lamps1.self)
        service.handle(NewLamps.Dim.self) { dim, context in
            for state in Self.states { context.report(.init(state: state), of: dim) }
        }
        try await service.start()
        try await body(service)
        try await service.stop()
    }
    private func relay(_ interface: any EventInterface.Type) throws -> EventRelay {
        let relay = try EventRelay(following: Self.name, on: bus.bus, interfaces: interface)
        relay.activate()
        return relay
    }
    @Test("of progress, a value with a case that the caller lacks is left out, and the reply comes")
    func progress() async throws {
        try await serve { _ in
            let old = try relay(OldLamps.Lamps1.self)
            let work = old.start(OldLamps.Dim(lamp: 1))
            var states: [OldLamps.State] = []
            for await progress in work.progress { states.append(progress.state) }
            _ = try await work.outcome.get()
            // A later value may have replaced an earlier one.
            #expect(states.last == .on(brightness: 7) && Set(["off", "on"]).isSuperset(of: states.map(\.label)))
            let open = try relay(OpenLamps.Lamps1.self)
            let other = open.start(OpenLamps.Dim(lamp: 1))
            var last: OpenLamps.State?
            for await progress in other.progress { last = progress.state }
            _ = try await other.outcome.get()
            #expect(last == .on(brightness: 7))
            old.invalidate()
            open.invalidate()
        }
    }
    @Test("a document is followed and edited as long as its case is known; of one that is not, nothing is lost")
    func document() async throws {
        try await serve { service in
            let panel = try service.document(NewLamps.Panel.self)
            try panel.set(.init(state: .on(brightness: 1), title: "hall"))
            let old = try relay(OldLamps.Lamps1.self)
            let (shown, failures) = (Log<OldLamps.Panel>(), Log<RelayError.Code>())
            let following = try old.follow(OldLamps.Panel.self) {
                shown.add($0.state)
            } onFailure: {
                failures.add($0.code)
            }
            #expect(await eventually { shown.values.last == .init(title: "hall", state: .on(brightness: 1)) })
            try await old.update(OldLamps.Panel.self) { $0.state = .on(brightness: 2) }
            #expect(panel.state == .init(state: .on(brightness: 2), title: "hall"))
            // A case that it lacks is reported to it, and it goes on with the next state.
            try panel.set(.init(state: .blinking(times: 3), title: "hall"))
            #expect(await eventually { failures.values == [.schemaMismatch] })
            let refused = await error { try await old.update(OldLamps.Panel.self) { $0.title = "x" } }
            #expect(refused?.code == .schemaMismatch && refused?.mayHaveRun == false)
            #expect(refused?.message.contains("'blinking'") == true, "\(String(describing: refused))")
            try panel.set(.init(state: .off, title: "stairs"))
            #expect(await eventually { shown.values.last == .init(title: "stairs", state: .off) })
            withExtendedLifetime(following) {}
            old.invalidate()
        }
    }
    @Test("an open enum shows a document's unknown case, which an editor cannot send back, but can replace")
    func openDocument() async throws {
        try await serve { service in
            let panel = try service.document(NewLamps.Panel.self)
            try panel.set(.init(state: .blinking(times: 3), title: "hall"))
            let open = try relay(OpenLamps.Lamps1.self)
            let present = try await open.snapshot(of: OpenLamps.Panel.self)
            #expect(present.state == .init(title: "hall", state: .unknown(Self.unknown)))
            let refused = await error { try await open.update(OpenLamps.Panel.self) { $0.title = "stairs" } }
            #expect(refused?.code == .invalidArgument && refused?.mayHaveRun == false)
            #expect(panel.state == .init(state: .blinking(times: 3), title: "hall"))
            try await open.update(OpenLamps.Panel.self) { $0.state = .off }
            #expect(panel.state == .init(state: .off, title: "hall"))
            open.invalidate()
        }
    }
    private func error(_ body: () async throws -> some Any) async -> RelayError? {
        do {
            _ = try await body()
            return nil
        } catch {
            return error as? RelayError
        }
    }
}

extension OldLamps.State {
    fileprivate var label: String { if case .off = self { "off" } else { "on" } }
}
