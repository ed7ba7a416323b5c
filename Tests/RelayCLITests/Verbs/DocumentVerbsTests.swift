import RelayCore
import RelayTool
import Synchronization
import Testing

@testable import relay_cli
import RelayWire

/// A service with two documents, one of which others may change.
private final class DocumentService: Sendable {
    static let xml = """
        <node>
          <interface name="org.eventrelay.Stream1"><method name="Status"/></interface>
          <interface name="org.example.Printing1">
            <signal name="Settings">
              <arg name="tray" type="i"/>
              <arg name="title" type="as"><annotation name="org.eventrelay.Fields" value="?s"/></arg>
              <arg name="sizes" type="a{sx}"/>
              <arg name="sequence" type="t"/><arg name="previous" type="t"/><arg name="publishedAt" type="t"/>
            </signal>
            <signal name="Ink">
              <arg name="level" type="d"/>
              <arg name="sequence" type="t"/><arg name="previous" type="t"/><arg name="publishedAt" type="t"/>
            </signal>
            <signal name="Printed">
              <arg name="sequence" type="t"/><arg name="previous" type="t"/><arg name="publishedAt" type="t"/>
            </signal>
            <method name="SubmitSettings">
              <arg name="state" type="(iasa{sx})" direction="in"/><arg name="epoch" type="t" direction="in"/>
              <arg name="sequence" type="t" direction="in"/><arg name="idempotencyKey" type="as" direction="in"/>
              <arg name="epoch" type="t" direction="out"/><arg name="sequence" type="t" direction="out"/>
            </method>
            <property name="Settings" type="(iasa{sx})" access="read"/>
            <property name="Ink" type="(d)" access="read"/>
            <property name="Uptime" type="t" access="read"/>
          </interface>
        </node>
        """
    struct Settings: Equatable, Sendable {
        var tray: Int32 = 1
        var title: String?
    }
    private struct State {
        var settings = Settings()
        var sequence: UInt64 = 3
        /// So many others are first.
        var conflicts = 0
        /// What `Contract` is answered with, and where submissions came.
        var contract: String?
        var paths: [String] = []
        var operations: [String] = []
    }
    private let state = Mutex(State())
    var settings: Settings { state.withLock { $0.settings } }
    var operations: [String] { state.withLock { $0.operations } }
    var paths: [String] { state.withLock { $0.paths } }
    func report(contract: String) { state.withLock { $0.contract = contract } }
    func conflict(_ count: Int) { state.withLock { $0.conflicts = count } }

    func service() -> FakeService {
        FakeService(objects: ["/": "<node><node name=\"Printing1\"/></node>", "/Printing1": Self.xml]) { [self] call in
            switch (call.member, call.signature) {
            case ("GetDocument", "s"):
                let name = try call.body.withUnsafeBytes { bytes in
                    var reader = WireReader(bytes)
                    return try reader.string()
                }
                return IncomingReply(signature: "ttuv", body: try document(name))
            case ("Contract", ""): return try contract()
            case ("SubmitSettings", "(iasa{sx})ttas"): return try submit(call)
            default: throw CLIFailure(.software, "not expected: \(call.member) \(call.signature)")
            }
        }
    }
    private func contract() throws -> IncomingReply {
        guard let id = state.withLock({ $0.contract }) else {
            throw CLIFailure(.software, "no", name: "org.freedesktop.DBus.Error.UnknownMethod")
        }
        let body = try Samples.body { writer in
            try writer.string(id)
            let mark = writer.beginArray(elementAlignment: 8)
            try writer.endArray(mark)
        }
        return IncomingReply(signature: Stream1.contractSignature, body: body)
    }
    private func document(_ name: String) throws -> [UInt8] {
        let (settings, sequence) = state.withLock { ($0.settings, $0.sequence) }
        var fields = WireWriter()
        if name == "Ink" {
            fields.double(0.5)
        } else {
            fields.int32(settings.tray)
            let title = fields.beginArray(elementAlignment: 4)
            if let text = settings.title { try fields.string(text) }
            try fields.endArray(title)
            let sizes = fields.beginArray(elementAlignment: 8)
            fields.align(8)
            try fields.string("A4")
            fields.int64(210)
            try fields.endArray(sizes)
        }
        var body = WireWriter()
        try Stream1.write(
            DocumentSnapshot(
                version: DocumentVersion(epoch: 7, sequence: sequence), schema: 1,
                signature: name == "Ink" ? "(d)" : "(iasa{sx})", fields: fields.bytes), into: &body)
        return body.bytes
    }
    private func submit(_ call: OutgoingCall) throws -> IncomingReply {
        let values = try DBusValue.decode(signature: Signature(call.signature), body: call.body)
        return try state.withLock { state in
            state.paths.append(call.path)
            if state.conflicts > 0 {
                state.conflicts -= 1
                state.settings.title = "of somebody else"
                state.sequence += 1
                throw CLIFailure(
                    .refused, "SubmitSettings: changed", refusal: "org.example.Printing1.Error.Conflict")
            }
            guard case .structure(let fields) = values[0], case .int32(let tray) = fields[0],
                case .array(_, let title) = fields[1], values[1] == .uint64(7), values[2] == .uint64(state.sequence),
                case .array(_, let key) = values[3], case .string(let operation)? = key.first
            else { throw CLIFailure(.software, "submitted: \(values)") }
            if tray > 9 {
                throw CLIFailure(.refused, "SubmitSettings: no such tray (org.example.Printing1.Error.NoSuchTray)")
            }
            state.settings.tray = tray
            state.settings.title = title.first.map { if case .string(let text) = $0 { text } else { "?" } }
            state.sequence += 1
            state.operations.append(operation)
            let sequence = state.sequence
            return IncomingReply(
                signature: "tt",
                body: Samples.body {
                    $0.uint64(7)
                    $0.uint64(sequence)
                })
        }
    }
}

@Suite("get and set") struct DocumentVerbsTests {
    private let documents = DocumentService()

    private func get(_ name: String, json: Bool = false) async throws -> String {
        let output = try await Get(document: name).output(
            asking: documents.service(), style: OutputStyle(json: json), timeout: .seconds(1))
        return String(decoding: output, as: UTF8.self)
    }
    private func set(_ name: String, _ fields: String..., json: Bool = false) async throws -> String {
        let verb: SetFields = try Line.verb(["set", name] + fields)
        let output = try await verb.output(
            asking: documents.service(), style: OutputStyle(json: json), timeout: .seconds(5), operation: "op")
        return String(decoding: output, as: UTF8.self)
    }
    private func failure(_ body: () async throws -> String) async -> CLIFailure? {
        do {
            _ = try await body()
            return nil
        } catch {
            return error as? CLIFailure
        }
    }

    @Test("a document's fields are printed by name, or as an object")
    func read() async throws {
        #expect(try await get("Settings") == "tray=1 title=null sizes={\"A4\":210}\n")
        #expect(try await get("Ink") == "level=0.5\n")
        #expect(
            try await get("org.example.Printing1.Settings", json: true)
                == #"{"tray":1,"title":null,"sizes":{"A4":210}}"# + "\n")
    }
    @Test("a field is set, and the others stay as they are")
    func write() async throws {
        #expect(try await set("Settings", "tray=2") == "tray=2 title=null sizes={\"A4\":210}\n")
        #expect(try await set("Settings", "title=Draft") == "tray=2 title=\"Draft\" sizes={\"A4\":210}\n")
        #expect(documents.settings == .init(tray: 2, title: "Draft"))
        #expect(try await set("Settings", "title=null", "tray=3") == "tray=3 title=null sizes={\"A4\":210}\n")
        // What is so already is not submitted.
        #expect(try await set("Settings", "tray=3") == "tray=3 title=null sizes={\"A4\":210}\n")
        #expect(documents.operations == ["op-1", "op-1", "op-1"])
    }
    @Test("if somebody else is first, the field is set in what that left, as an operation of its own")
    func conflicts() async throws {
        documents.conflict(2)
        #expect(try await set("Settings", "tray=5") == "tray=5 title=\"of somebody else\" sizes={\"A4\":210}\n")
        #expect(documents.operations == ["op-3"])
    }
    @Test("a state is submitted at the object of the contract that the service reports, after a conflict too")
    func contract() async throws {
        documents.conflict(1)
        documents.report(contract: "0123456789abcdef")
        _ = try await set("Settings", "tray=5")
        #expect(documents.paths == Array(repeating: "/Printing1/c0123456789abcdef", count: 2))
        #expect(documents.settings.tray == 5)
    }
    @Test("what is wrong is said, with what there is")
    func faults() async throws {
        let cases: [(CLIFailure?, CLIFailure)] = [
            (
                await failure { try await get("Setings") },
                CLIFailure(.usage, "no document 'Setings'; did you mean 'Settings'?")
            ),
            (
                await failure { try await get("Printed") },
                CLIFailure(.usage, "no document 'Printed'; there are Settings and Ink")
            ),
            (
                await failure { try await set("Ink", "level=1") },
                CLIFailure(.usage, "'Ink' is read only: its service alone sets it")
            ),
            (
                await failure { try await set("Settings", "colour=red") },
                CLIFailure(.usage, "'Settings' has no field 'colour'; it has tray, title, sizes")
            ),
            (
                await failure { try await set("Settings", "tray=11") },
                CLIFailure(.refused, "SubmitSettings: no such tray (org.example.Printing1.Error.NoSuchTray)")
            ),
        ]
        for (failure, expected) in cases { #expect(failure == expected) }
        #expect(await failure { try await set("Settings", "tray=two") }?.code == .badValue)
        #expect(throws: (any Error).self) { try Line.verb("set Settings") as SetFields }
        #expect(throws: (any Error).self) { try Line.verb("set Settings tray=1 tray=2") as SetFields }
    }
    @Test("watch begins with the present state, waits for it, and shows no change that it counts") func present()
        async throws
    {
        let service = documents.service()
        let catalogue = try await Discovery(caller: service, timeout: .seconds(1)).catalogue()
        var machine = WatchMachine(try Line.verb("watch Settings --count 1"), service: "s", printer: Samples.printer())
        var output = ByteBuffer()
        _ = machine.start()
        let first = machine.take(discovery: .found(catalogue), now: 0, output: &output)
        let target = try catalogue.document("Settings")
        #expect(first == [.follow(EventSelection(names: ["org.example.Printing1": ["Settings"]]))])
        #expect(!machine.isReady)
        #expect(machine.following() == [.note("watching s"), .show([target])])
        let answer = await DocumentState.all([target], asking: service, timeout: .seconds(1))
        guard case .states(let states, let notes) = answer else {
            Issue.record("no states")
            return
        }
        #expect(notes.isEmpty && states.map(\.version) == [DocumentVersion(epoch: 7, sequence: 3)])
        let shown = machine.take(states: states, now: 0, output: &output)
        #expect(shown.isEmpty && machine.isReady)
        func change(_ tray: Int32, _ sequence: UInt64, epoch: UInt64 = 7) throws -> WatchInput {
            let body = try Samples.body { writer in
                writer.int32(tray)
                try writer.endArray(writer.beginArray(elementAlignment: 4))
                let sizes = writer.beginArray(elementAlignment: 8)
                writer.align(8)
                try writer.string("A4")
                writer.int64(210)
                try writer.endArray(sizes)
                for number in [sequence, sequence - 1, 0] { writer.uint64(number) }
            }
            let stamp = Stamp(
                epoch: epoch, sequence: sequence, previous: sequence - 1, publishedAt: Timestamp(microseconds: 0))
            return .event(
                Envelope(
                    interface: "org.example.Printing1", name: "Settings", signature: "iasa{sx}ttt", body: body,
                    stamp: stamp))
        }
        for sequence: UInt64 in 2...3 {
            let actions = machine.take(try change(9, sequence), now: 0, output: &output)
            #expect(actions.isEmpty)
        }
        let last = machine.take(try change(4, 4), now: 0, output: &output)
        #expect(last == [.end(nil)], "the present state is not counted")
        #expect(
            output.text == """
                00:00:00.000 #3 Settings tray=1 title=null sizes={"A4":210}
                00:00:00.000 #4 Settings tray=4

                """)
    }
    @Test(
        "behind a replaced history, watch shows the state that it has, unless its events do",
        arguments: ["", "--since 1h"])
    func replaced(start: String) async throws {
        let catalogue = try await Discovery(caller: documents.service(), timeout: .seconds(1)).catalogue()
        let line = "watch Settings --json \(start)"
        var machine = WatchMachine(try Line.verb(line), service: "s", printer: Samples.printer(json: true))
        var output = ByteBuffer()
        _ = machine.start()
        _ = machine.take(discovery: .found(catalogue), now: 0, output: &output)
        _ = machine.following()
        let target = try catalogue.document("Settings")
        let answer = await DocumentState.all([target], asking: documents.service(), timeout: .seconds(1))
        guard case .states(let states, _) = answer else {
            Issue.record("no states")
            return
        }
        _ = machine.take(states: states, now: 0, output: &output)
        output = ByteBuffer()
        func part(at common: UInt64) -> [WatchMachine.Action] {
            let gap = Gap(9...UInt64.max, epoch: 7, count: nil, reason: .historyReplaced, commonThrough: common)
            return machine.take(.gap(interface: target.interface, gap), now: 0, output: &output)
        }
        // The state is of #3.
        for (common, lines) in [(3, 1), (2, 0)] as [(UInt64, Int)] {
            #expect(part(at: common) == [.show([target])] && !machine.isReady)
            #expect(output.text.contains(#""reason":"historyReplaced","commonThrough":\#(common)"#))
            output = ByteBuffer()
            #expect(machine.take(states: states, now: 0, output: &output).isEmpty && machine.isReady)
            #expect(output.text.split(separator: "\n").count == lines, "\(output.text)")
            #expect(lines == 0 || output.text.contains(#""transport":"state""#))
            output = ByteBuffer()
        }
        let other = Gap(9...UInt64.max, epoch: 7, count: nil, reason: .historyReplaced, commonThrough: 3)
        #expect(machine.take(.gap(interface: "org.example.Other1", other), now: 0, output: &output).isEmpty)
    }
    @Test("the documents of a run that has ended are shown as the next run has them") func nextRun() async throws {
        let catalogue = try await Discovery(caller: documents.service(), timeout: .seconds(1)).catalogue()
        var machine = WatchMachine(try Line.verb("watch Settings"), service: "s", printer: Samples.printer())
        var output = ByteBuffer()
        let target = try catalogue.document("Settings")
        _ = machine.start()
        _ = machine.take(discovery: .found(catalogue), now: 0, output: &output)
        _ = machine.take(states: [], now: 0, output: &output)
        func comesBack() -> [WatchMachine.Action] {
            _ = machine.take(.state(.interrupted), now: 0, output: &output)
            _ = machine.take(.state(.active), now: 0, output: &output)
            _ = machine.take(discovery: .found(catalogue), now: 0, output: &output)
            return machine.following()
        }
        #expect(comesBack() == [.note("s is back")])
        let gap = Gap(4...UInt64.max, epoch: 7, count: nil, reason: .epochChanged)
        #expect(machine.take(.gap(interface: target.interface, gap), now: 0, output: &output).isEmpty)
        #expect(comesBack() == [.note("s is back"), .show([target])])
    }
    @Test("watch of all events, or from a place in the journal, begins with no state") func noPresent() async throws {
        let catalogue = try await Discovery(caller: documents.service(), timeout: .seconds(1)).catalogue()
        for line in ["watch", "watch Printed", "watch Settings --since 1h"] {
            var machine = WatchMachine(try Line.verb(line), service: "s", printer: Samples.printer())
            var output = ByteBuffer()
            _ = machine.start()
            _ = machine.take(discovery: .found(catalogue), now: 0, output: &output)
            #expect(machine.isReady && machine.following() == [.note("watching s")], "\(line)")
        }
    }
    @Test("watch shows a document's first state whole, then what has changed; as JSON always all of it")
    func watch() throws {
        let node = try IntrospectionParser.parse(DocumentService.xml)
        let states: [(Int32, String?)] = [(1, nil), (2, nil), (2, "Draft"), (3, "Copy"), (3, "Copy")]
        func lines(json: Bool) throws -> String {
            var printer = Samples.printer(json: json)
            printer.learn(node.interfaces)
            var output = ByteBuffer()
            for (index, state) in states.enumerated() {
                let sequence = UInt64(index + 1)
                let body = try Samples.body { writer in
                    writer.int32(state.0)
                    let title = writer.beginArray(elementAlignment: 4)
                    if let text = state.1 { try writer.string(text) }
                    try writer.endArray(title)
                    try writer.endArray(writer.beginArray(elementAlignment: 8))
                    for number in [sequence, sequence - 1, 0] { writer.uint64(number) }
                }
                let envelope = Envelope(
                    interface: "org.example.Printing1", name: "Settings", signature: "iasa{sx}ttt", body: body,
                    stamp: Samples.stamp(sequence))
                #expect(printer.append(envelope, to: &output) == nil)
            }
            return output.text
        }
        #expect(
            try lines(json: false) == """
                00:00:00.000 #1 Settings tray=1 title=null sizes={}
                00:00:00.000 #2 Settings tray=2
                00:00:00.000 #3 Settings title="Draft"
                00:00:00.000 #4 Settings tray=3 title="Copy"
                00:00:00.000 #5 Settings

                """)
        #expect(try lines(json: true).split(separator: "\n").allSatisfy { $0.contains("\"sizes\":{}") })
    }
}
