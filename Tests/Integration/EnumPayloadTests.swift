import RelayCore
import RelayJournal
import RelayTestKit
import Synchronization
import TestTraits
import Testing

/// Two versions of a contract whose events and commands have an enum with payloads.
private enum Older {
    enum Jobs1: EventInterface {
        static let name = "org.example.Jobs1"
        static var contract: Contract<Self> {
            StateChanged.self
            SetState.self
        }
    }
    struct Reason: Codable, Sendable, Equatable { var code: Int32, text: String? }
    enum State: TaggedEnum, Equatable { case idle, printing(page: Int32, of: Int32?), failed(Reason) }
    struct StateChanged: DomainEvent, Equatable {
        typealias Interface = Jobs1
        var job: Int64, state: State
    }
    struct SetState: Command {
        typealias Interface = Jobs1
        var job: Int64, state: State
        struct Reply: Codable, Sendable, Equatable { var state: State }
    }
}
private enum Open {
    enum Jobs1: EventInterface {
        static let name = "org.example.Jobs1"
        static var contract: Contract<Self> { StateChanged.self }
    }
    enum State: OpenTaggedEnum, Equatable { case idle, unknown(UnknownCase) }
    struct StateChanged: DomainEvent, Equatable {
        typealias Interface = Jobs1
        var job: Int64, state: State
    }
}
private enum Newer {
    enum Jobs1: EventInterface {
        static let name = "org.example.Jobs1"
        static var contract: Contract<Self> {
            StateChanged.self
            SetState.self
        }
    }
    enum State: TaggedEnum, Equatable {
        case idle, scanning(tray: Int32), failed(Older.Reason), printing(page: Int32, of: Int32?)
    }
    struct StateChanged: DomainEvent, Equatable {
        typealias Interface = Jobs1
        var job: Int64, state: State
    }
    struct SetState: Command {
        typealias Interface = Jobs1
        var job: Int64, state: State
        struct Reply: Codable, Sendable { var state: State }
    }
}

extension EventOrGap {
    fileprivate var payload: Payload? { if case .event(let event, _) = self { event } else { nil } }
}

@Suite("Enums with payloads on a bus", .heavy, .tags(.g8)) struct EnumPayloadTests {
    private static let name = "org.example.Jobs"

    /// A service of the older contract, which publishes each state that is set.
    private func serve(
        _ body: (PrivateBus, EventService) async throws -> Void
    ) async throws {
        let (bus, folder) = (try PrivateBus(), try TestFolder())
        let journal = try EventJournal(directory: folder.path)
        let service = try EventService(
            name: Self.name, on: bus.bus, exporting: Older.Jobs1.self, journal: journal)
        service.handle(Older.SetState.self) { call, _ in
            try await service.publish(Older.StateChanged(job: call.job, state: call.state))
            return Older.SetState.Reply(state: call.state)
        }
        try await service.start()
        try await body(bus, service)
        try await service.stop()
        journal.close()
    }
    private func serveNewer(_ body: (PrivateBus, EventService) async throws -> Void) async throws {
        let (bus, folder) = (try PrivateBus(), try TestFolder())
        let journal = try EventJournal(directory: folder.path)
        let service = try EventService(
            name: Self.name, on: bus.bus, exporting: Newer.Jobs1.self, journal: journal)
        service.handle(Newer.SetState.self) { call, _ in Newer.SetState.Reply(state: .scanning(tray: 1)) }
        try await service.start()
        try await body(bus, service)
        try await service.stop()
        journal.close()
    }
    private func deliveries<E: DomainEvent>(
        of type: E.Type, _ count: Int, on bus: PrivateBus
    ) async throws -> [EventOrGap<E>] {
        let relay = try EventRelay(following: Self.name, on: bus.bus, interfaces: E.Interface.self)
        let stream = try relay.events(of: E.self, from: .beginning)
        relay.activate()
        var found: [EventOrGap<E>] = []
        for await delivery in stream {
            found.append(delivery)
            if found.count == count { break }
        }
        relay.invalidate()
        return found
    }

    @Test("dbus-python and GLib read and send them, by name too") func python() async throws {
        try await serve { bus, _ in
            let outcome = try await RunningProgram.run(
                "/usr/bin/python3",
                [
                    "-B", Programs.sources + "/dbus_python_enums.py", bus.address,
                    Programs.sources + "/../../Examples/python",
                ])
            let lines = outcome.output
            #expect(lines.contains(#"{"event": [1, ["idle", 0]]}"#), "\(outcome)")
            #expect(lines.contains(#"{"event": [2, ["printing", [3, [4]]]]}"#), "\(outcome)")
            #expect(lines.contains(#"{"reply": ["printing", [3, [4]]]}"#), "\(outcome)")
            #expect(lines.contains { $0.contains("\"error\"") && $0.contains("jammed") }, "\(outcome)")
            let shape = #"{"shape": "[idle,printing(page:i,of:?i),failed(_0:(code:i,text:?s))]"}"#
            #expect(lines.contains(shape), "\(outcome)")
            #expect(lines.contains(#"{"same": true}"#), "\(outcome)")
            #expect(lines.contains(#"{"event": [4, ["failed", [[7, ["paper"]]]]]}"#), "\(outcome)")
        }
    }
    @Test("busctl reads and sends them") func busctl() async throws {
        try await serve { bus, _ in
            func call(_ arguments: String...) async throws -> RunningProgram.Outcome {
                try await RunningProgram.run(
                    "busctl",
                    ["--address=\(bus.address)", "call", Self.name, "/org/example/Jobs1", Older.Jobs1.name, "SetState"]
                        + ["x(sv)", "1"] + arguments)
            }
            let printing = try await call("printing", "(iai)", "3", "1", "4")
            #expect(printing.output == [#"(sv) "printing" (iai) 3 1 4"#], "\(printing)")
            let idle = try await call("idle", "y", "0")
            #expect(idle.output == [#"(sv) "idle" y 0"#], "\(idle)")
            let wrong = try await call("printing", "(xai)", "3", "0")
            #expect(wrong.code != 0 && wrong.errors.joined().contains("'(iai)'"), "\(wrong)")
        }
    }
    @Test("relay-cli calls with them, prints them, and filters by case and payload") func cli() async throws {
        try await serve { bus, _ in
            func cli(_ arguments: String...) async throws -> RunningProgram.Outcome {
                try await RunningProgram.run(
                    Programs.cli, ["--bus", bus.address, "--service", Self.name] + arguments,
                    environment: Programs.environment())
            }
            let printing = #"{"printing":{"page":3,"of":null}}"#
            let called = try await cli("call", "SetState", "job=1", "state=" + printing)
            #expect(called.code == 0 && called.output.joined().contains(printing), "\(called)")
            for state in ["idle", #"{"failed":{"_0":{"code":7}}}"#, #"{"printing":{"page":9,"of":10}}"#] {
                #expect(try await cli("call", "SetState", "job=2", "state=" + state).code == 0)
            }
            for (wrong, part) in [
                ("prnting", "'printing'"), (#"{"printing":{}}"#, "lacks 'page'"), (#"{"idle":{"a":1}}"#, "no payload"),
                ("\"printing\"", "has a payload"), ("{}", "must be idle | printing(page: int32, of: int32?)"),
            ] {
                let refused = try await cli("call", "SetState", "job=1", "state=" + wrong)
                #expect(refused.code != 0 && refused.errors.joined().contains(part), "\(wrong): \(refused)")
            }
            func history(_ filter: String) async throws -> [String] {
                let found = try await cli("--json", "history", "--where", filter)
                #expect(found.code == 0, "\(found)")
                return found.output
            }
            let all = try await history("true == true")
            #expect(all.count == 4 && all.contains { $0.contains(#""state":"idle""#) }, "\(all)")
            #expect(all.contains { $0.contains(#""state":{"failed":{"_0":{"code":7,"text":null}}}"#) }, "\(all)")
            #expect(try await history("state == idle").count == 1)
            #expect(try await history("state == printing").count == 2)
            #expect(try await history("state.printing.page > 3").count == 1)
            #expect(try await history("state.printing.of == null").count == 3)
            #expect(try await history("state.failed._0.code == 7").count == 1)
            for (wrong, part) in [
                ("state.prnting.page > 3", "'printing'"), ("state.idle.page > 3", "state == idle"),
                ("state == prnting", "'prnting'"), ("state.printing.pages > 1", "'page'"),
            ] {
                let refused = try await cli("history", "--where", wrong)
                #expect(refused.code != 0 && refused.errors.joined().contains(part), "\(wrong): \(refused)")
            }
        }
    }
    @Test("a case that a subscriber lacks is a gap of that event alone, live and replayed; an open enum reads it")
    func unknownCase() async throws {
        try await serveNewer { bus, service in
            let states: [Newer.State] = [.idle, .scanning(tray: 2), .printing(page: 3, of: nil)]
            for (index, state) in states.enumerated() {
                try await service.publish(Newer.StateChanged(job: Int64(index), state: state))
            }
            let replayed = try await deliveries(of: Older.StateChanged.self, 3, on: bus)
            check(replayed)
            let open = try await deliveries(of: Open.StateChanged.self, 3, on: bus)
            #expect(open.compactMap(\.payload?.state).count == 3, "\(open)")
            if case .unknown(let unknown)? = open[1].payload?.state {
                #expect(unknown.description == "scanning(2)")
            } else {
                Issue.record("\(open)")
            }
            // The same, live.
            let relay = try EventRelay(following: Self.name, on: bus.bus, interfaces: Older.Jobs1.self)
            let stream = relay.publisher.events(of: Older.StateChanged.self)
            relay.activate()
            try await relay.ready()
            for (index, state) in states.enumerated() {
                try await service.publish(Newer.StateChanged(job: Int64(index), state: state))
            }
            var live: [EventOrGap<Older.StateChanged>] = []
            for await delivery in stream {
                live.append(delivery)
                if live.count == 3 { break }
            }
            check(live)
            relay.invalidate()
        }
    }
    private func check(_ found: [EventOrGap<Older.StateChanged>]) {
        #expect(found.map { $0.payload?.state } == [.idle, nil, .printing(page: 3, of: nil)], "\(found)")
        guard found.count == 3, case .gap(let gap) = found[1] else {
            Issue.record("\(found)")
            return
        }
        #expect(gap.reason == .schemaMismatch && gap.detail?.contains("'scanning'") == true, "\(gap)")
    }
    @Test("a reply with a case that the caller lacks says that the command has run") func reply() async throws {
        try await serveNewer { bus, _ in
            let relay = try EventRelay(following: Self.name, on: bus.bus, interfaces: Older.Jobs1.self)
            relay.activate()
            let error = await #expect(throws: (any Error).self) {
                _ = try await relay.call(Older.SetState(job: 1, state: .idle))
            }
            let found = error as? RelayError
            #expect(found?.code == .schemaMismatch && found?.mayHaveRun == true, "\(error.map { "\($0)" } ?? "")")
            #expect(found?.message.contains("'scanning'") == true)
            relay.invalidate()
        }
    }
}
