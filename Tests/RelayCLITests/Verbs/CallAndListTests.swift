import Foundation
import RelayCore
import RelayTool
import Testing

@testable import relay_cli
import RelayWire

@Suite("call and list")
struct CallAndListTests {
    private func call(
        _ command: String, _ arguments: [Call.Argument], json: Bool = false,
        answer: @escaping @Sendable (OutgoingCall) throws -> IncomingReply
    ) async throws -> (text: String, service: FakeService) {
        let service = FakeService(answer: answer)
        let output = try await Call(command: command, arguments: arguments).output(
            asking: service, style: OutputStyle(json: json), timeout: .seconds(1))
        return (String(decoding: output, as: UTF8.self), service)
    }
    private let order: [Call.Argument] = [
        .init(key: "label", value: "Kitchen"), .init(key: "capacity", value: "10"),
    ]

    @Test("a reply's fields are printed by name, or as an object")
    func reply() async throws {
        let answer: @Sendable (OutgoingCall) throws -> IncomingReply = { _ in
            IncomingReply(signature: "x", body: Samples.body { $0.int64(3) })
        }
        let people = try await call("OrderBox", order, answer: answer)
        #expect(people.text == "boxID=3\n")
        #expect(
            people.service.calls.last
                == OutgoingCall(
                    path: "/org/eventrelay/Relocation1", interface: "org.eventrelay.Relocation1", member: "OrderBox",
                    signature: "si",
                    body: try Samples.body {
                        try $0.string("Kitchen")
                        $0.int32(10)
                    }))
        #expect(try await call("OrderBox", order, json: true, answer: answer).text == "{\"boxID\":3}\n")
    }

    @Test("a nested reply has the names of the annotation")
    func nested() async throws {
        let result = try await call("Contents", [], json: true) { _ in
            IncomingReply(
                signature: "a(xs)",
                body: try Samples.body { writer in
                    let mark = writer.beginArray(elementAlignment: 8)
                    writer.align(8)
                    writer.int64(1)
                    try writer.string("Hall")
                    try writer.endArray(mark)
                })
        }
        #expect(result.text == #"{"boxes":[{"boxID":1,"title":"Hall"}]}"# + "\n")
    }

    @Test("a command without a reply prints nothing, or an empty object")
    func empty() async throws {
        let arguments = [Call.Argument(key: "boxID", value: "1")]
        let answer: @Sendable (OutgoingCall) -> IncomingReply = { _ in IncomingReply(signature: "", body: []) }
        #expect(try await call("RemoveBox", arguments, answer: answer).text == "")
        #expect(try await call("RemoveBox", arguments, json: true, answer: answer).text == "{}\n")
    }

    @Test("a reply of another signature is shown all the same; one that cannot be read is an error")
    func otherReply() async throws {
        let other = try await call("OrderBox", order) { _ in
            IncomingReply(
                signature: "sb",
                body: try Samples.body {
                    try $0.string("x"); $0.bool(true)
                })
        }
        #expect(other.text == "arg0=\"x\" arg1=true\n")
        let failure = await #expect(throws: CLIFailure.self) {
            try await call("OrderBox", order) { _ in IncomingReply(signature: "x", body: [1, 2]) }
        }
        #expect(failure?.code == .software)
    }

    @Test("a wrong name or value calls nothing")
    func nothingCalled() async throws {
        for (command, arguments, code) in [
            ("OrderBx", order, ExitCode.usage), ("OrderBox", [], .usage),
            ("OrderBox", [order[0], .init(key: "capacity", value: "ten")], .badValue),
            ("OrderBox", order + [.init(key: "colour", value: "red")], .usage),
        ] {
            let service = FakeService()
            let failure = await #expect(throws: CLIFailure.self) {
                try await Call(command: command, arguments: arguments).output(
                    asking: service, style: OutputStyle(), timeout: .seconds(1))
            }
            #expect(failure?.code == code)
            #expect(service.calls.allSatisfy { $0.member == "Introspect" })
        }
    }

    @Test("a command is called at the object of the contract that the service reports, as it is described then")
    func contract() async throws {
        let result = try await call("OrderBox", order) { call in
            guard call.member == "Contract" else {
                return IncomingReply(signature: "x", body: Samples.body { $0.int64(3) })
            }
            return IncomingReply(
                signature: Stream1.contractSignature,
                body: try Samples.body { writer in
                    try writer.string("0123456789abcdef")
                    let mark = writer.beginArray(elementAlignment: 8)
                    try writer.endArray(mark)
                })
        }
        #expect(result.text == "boxID=3\n")
        let path = "/org/eventrelay/Relocation1"
        let last = result.service.calls.suffix(3)
        #expect(last.map(\.member) == ["Contract", "Introspect", "OrderBox"])
        #expect(last.map(\.path) == [path, path, path + "/c0123456789abcdef"])
    }

    @Test("a service that answers Contract with an error is called all the same; one that does not answer is not")
    func noContract() async {
        func members(_ failure: CLIFailure) async -> [String] {
            let service = FakeService { call in
                if call.member == "Contract" { throw failure }
                return IncomingReply(signature: "x", body: Samples.body { $0.int64(3) })
            }
            _ = try? await Call(command: "OrderBox", arguments: order).output(
                asking: service, style: OutputStyle(), timeout: .seconds(1))
            return service.calls.map(\.member).filter { $0 != "Introspect" }
        }
        for name in ["UnknownMethod", "UnknownInterface", "AccessDenied", "InvalidArgs"] {
            let failure = CLIFailure(.software, "no", name: "org.freedesktop.DBus.Error.\(name)")
            #expect(await members(failure) == ["Contract", "OrderBox"], "\(name)")
        }
        #expect(await members(CLIFailure(.timedOut, "no answer")) == ["Contract"])
        let late = CLIFailure(.timedOut, "too late", name: "org.freedesktop.DBus.Error.TimedOut")
        #expect(await members(late) == ["Contract"])
    }

    @Test("list shows interfaces, members, fields and types")
    func list() async throws {
        let result = try await List().output(
            of: "a.b", asking: FakeService(), style: OutputStyle(), timeout: .seconds(1))
        #expect(
            String(decoding: result, as: UTF8.self) == """
                org.eventrelay.Relocation1  /org/eventrelay/Relocation1
                  events
                    BoxProvisioned  boxID: int64, capacity: int32, title: string
                    TruckLoaded     shelves: [(label: string, height: double?)], note: string?
                    Ping
                  commands
                    OrderBox   label: string, capacity: int32 -> boxID: int64
                    RemoveBox  boxID: int64
                    Contents   -> boxes: [(boxID: int64, title: string)]
                  properties
                    Inventory  uint32

                """)
    }

    @Test("list within a narrow terminal parts no word, and no name from its type")
    func narrowList() async throws {
        let result = try await List().output(
            of: "a.b", asking: FakeService(), style: OutputStyle(width: 40), timeout: .seconds(1))
        #expect(
            String(decoding: result, as: UTF8.self) == """
                org.eventrelay.Relocation1  /org/eventrelay/Relocation1
                  events
                    BoxProvisioned
                                 boxID: int64,
                                 capacity: int32,
                                 title: string
                    TruckLoaded  shelves: [(label:
                                 string, height:
                                 double?)],
                                 note: string?
                    Ping
                  commands
                    OrderBox   label: string,
                               capacity: int32 ->
                               boxID: int64
                    RemoveBox  boxID: int64
                    Contents   -> boxes: [(boxID: int64,
                               title: string)]
                  properties
                    Inventory  uint32

                """)
    }

    @Test("list as JSON is an object a line; with --all there is everything")
    func listJSON() async throws {
        func lines(all: Bool) async throws -> [[String: Any]] {
            let result = try await List(all: all).output(
                of: "a.b", asking: FakeService(), style: OutputStyle(json: true), timeout: .seconds(1))
            return try result.split(separator: UInt8(ascii: "\n")).map { line in
                try #require(try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any])
            }
        }
        let offered = try await lines(all: false)
        #expect(offered.count == 1)
        #expect(offered[0]["interface"] as? String == "org.eventrelay.Relocation1")
        let events = try #require(offered[0]["events"] as? [[String: Any]])
        #expect(events.map { $0["name"] as? String } == ["BoxProvisioned", "TruckLoaded", "Ping"])
        let fields = try #require(events[0]["fields"] as? [[String: String]])
        #expect(fields[0] == ["name": "boxID", "type": "int64", "signature": "x"])
        #expect(try await lines(all: true).count == 3)
    }

    @Test("what a service answers Contract with that is no contract is said")
    func noContractListed() async throws {
        func failure(_ reply: IncomingReply) async -> CLIFailure? {
            await #expect(throws: CLIFailure.self) {
                try await List(contract: true).output(
                    of: "a.b", asking: FakeService { _ in reply }, style: OutputStyle(), timeout: .seconds(1))
            }
        }
        let text = IncomingReply(signature: "s", body: try Samples.body { try $0.string("x") })
        #expect(await failure(text) == CLIFailure(.software, "'a.b' answers Contract with 's'"))
        let malformed = IncomingReply(
            signature: Stream1.contractSignature,
            body: try Samples.body { writer in
                try writer.string("x")
                let mark = writer.beginArray(elementAlignment: 8)
                try writer.endArray(mark)
            })
        #expect(
            await failure(malformed)
                == CLIFailure(.software, "'a.b' answers Contract with no contract: 'x' is no contract's id"))
    }

    @Test("a service of another make says so, and says what to do")
    func foreign() async throws {
        let service = FakeService(objects: ["/": #"<node><interface name="a.b"/></node>"#])
        let foreign = CLIFailure(
            .unavailable,
            "'a.b' is no service of Relay: no interface of it is built with RelayCore; 'list --all' shows what it has, or "
                + "name another with --service")
        func output(_ list: List, _ service: FakeService) async throws -> String {
            let output = try await list.output(
                of: "a.b", asking: service, style: OutputStyle(), timeout: .seconds(1))
            return String(decoding: output, as: UTF8.self)
        }
        await #expect(throws: foreign) { try await output(List(), service) }
        await #expect(throws: foreign) { try await output(List(contract: true), service) }
        #expect(try await output(List(all: true), service) == "a.b  /\n")
        // Many programs have no object at the root, or none that describes itself.
        for name in ["UnknownObject", "UnknownMethod", "UnknownInterface"] {
            let silent = Silent(error: "org.freedesktop.DBus.Error.\(name)")
            await #expect(throws: foreign, "\(name)") {
                try await Discovery(caller: silent, timeout: .seconds(1), service: "a.b").catalogue()
            }
        }
    }

    /// A program without objects.
    private struct Silent: ServiceCaller {
        let error: String
        func call(_ call: OutgoingCall, timeout: Duration) async throws -> IncomingReply {
            throw CLIFailure(.software, "no", name: error)
        }
    }

    @Test("no verb takes another service for one of Relay: all end with 69, and say the same")
    func foreignToAll() async throws {
        let service = FakeService(objects: ["/": #"<node><interface name="a.b"/></node>"#])
        let (style, timeout) = (OutputStyle(), Duration.seconds(1))
        let foreign = CLIFailure.notRelay(ServiceFinder.standard)
        await #expect(throws: foreign) {
            try await Call(command: "Do").output(asking: service, style: style, timeout: timeout)
        }
        await #expect(throws: foreign) {
            try await Get(document: "State").output(asking: service, style: style, timeout: timeout)
        }
        await #expect(throws: foreign) {
            try await SetFields(document: "State", fields: []).output(
                asking: service, style: style, timeout: timeout, operation: "a")
        }
        await #expect(throws: foreign) { try await Completion.lines(.events, of: nil, asking: service) }
        for verb in ["status", "metrics", "history", "export", "list"] {
            let run = try await HistoryRun.run(
                verb, from: FakeJournal([]), objects: ["/": #"<node><interface name="a.b"/></node>"#])
            #expect(run == HistoryRun(code: .unavailable, output: "", notes: [foreign.message]), "\(verb)")
        }
    }
}
