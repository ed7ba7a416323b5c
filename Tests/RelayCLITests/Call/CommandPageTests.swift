import RelayCore
import RelayTool
import Testing

@testable import relay_cli
import RelayWire

@Suite("A contract's descriptions, units, cases and refusals")
struct CommandPageTests {
    private static let xml = """
        <node>
          <interface name="org.eventrelay.Stream1"/>
          <interface name="org.example.Post1">
            <annotation name="org.eventrelay.Description" value="Letters."/>
            <signal name="LetterSent">
              <arg name="priority" type="i">
                <annotation name="org.eventrelay.Cases" value="{&quot;low&quot;:-1,&quot;urgent&quot;:10}"/>
              </arg>
              <arg name="parts" type="a(ds)">
                <annotation name="org.eventrelay.Fields" value="a(height:d,kind:s)"/>
                <annotation name="org.eventrelay.Cases.kind" value="{&quot;page&quot;:&quot;P&quot;}"/>
                <annotation name="org.eventrelay.Unit.height" value="mm"/>
              </arg>
              <arg name="sequence" type="t"/><arg name="previous" type="t"/><arg name="publishedAt" type="t"/>
            </signal>
            <method name="SendLetter">
              <arg name="to" type="s" direction="in">
                <annotation name="org.eventrelay.Description" value="whom it is for"/>
              </arg>
              <arg name="priority" type="ai" direction="in">
                <annotation name="org.eventrelay.Fields" value="?i"/>
                <annotation name="org.eventrelay.Cases" value="{&quot;low&quot;:-1,&quot;urgent&quot;:10}"/>
              </arg>
              <arg name="parts" type="a(ds)" direction="in">
                <annotation name="org.eventrelay.Fields" value="a(height:d,kind:s)"/>
                <annotation name="org.eventrelay.Cases.kind" value="{&quot;page&quot;:&quot;P&quot;}"/>
                <annotation name="org.eventrelay.Unit.height" value="mm"/>
              </arg>
              <arg name="number" type="t" direction="out">
                <annotation name="org.eventrelay.Unit" value="letters"/>
              </arg>
              <annotation name="org.eventrelay.Description" value="Sends a letter."/>
              <annotation name="org.eventrelay.Failures" value="{&quot;NoStamp&quot;:&quot;buy one&quot;}"/>
            </method>
          </interface>
        </node>
        """
    private let service = FakeService(objects: ["/": xml]) { _ in
        IncomingReply(signature: "t", body: Samples.body { $0.uint64(7) })
    }
    private func output(_ arguments: String..., json: Bool = false) async throws -> String {
        let line = ["call", "SendLetter"] + arguments
        guard case .run(let verb, _) = try Program.parse(line, at: Samples.time), let call = verb as? Call else {
            throw CLIFailure(.software, "no call: \(line)")
        }
        let output = try await call.output(asking: service, style: OutputStyle(json: json), timeout: .seconds(1))
        return String(decoding: output, as: UTF8.self)
    }

    @Test("'call X --help' explains X, and calls nothing") func page() async throws {
        #expect(
            try await output("--help") == """
                SendLetter  of org.example.Post1
                Sends a letter.

                Arguments
                  to: string                 whom it is for
                  priority: (low | urgent)?
                  parts: [(height: double, kind: page)]
                    height in mm

                Reply
                  number: uint64 in letters

                Refusals
                  NoStamp  buy one

                Usage
                  relay-cli call SendLetter to=… [priority=…] parts=…

                """)
        #expect(service.calls.allSatisfy { $0.member == "Introspect" })
        #expect(
            try await output("to=Ann", "--help", json: true)
                == #"{"name":"SendLetter","about":"Sends a letter.","arguments":["#
                + #"{"name":"to","type":"string","signature":"s","about":"whom it is for"},"#
                + #"{"name":"priority","type":"int32?","signature":"ai","cases":{"low":-1,"urgent":10}},"#
                + #"{"name":"parts","type":"[(height: double, kind: string)]","signature":"a(ds)"}],"#
                + #""reply":[{"name":"number","type":"uint64","signature":"t","unit":"letters"}],"#
                + #""failures":{"NoStamp":"buy one"}}"# + "\n")
    }
    @Test("'call --help' is about 'call' itself") func ownHelp() throws {
        for line in [["call", "--help"], ["--help", "call"]] {
            guard case .help(let verb) = try Program.parse(line, at: Samples.time) else {
                Issue.record("\(line)")
                continue
            }
            #expect(verb?.name == "call")
        }
    }
    @Test("values with names are given by name, at any depth, or as they are") func arguments() async throws {
        func sent(_ priority: String, kind: String) async throws -> [UInt8]? {
            _ = try await output("to=Ann", "priority=\(priority)", #"parts=[{"height":1,"kind":"\#(kind)"}]"#)
            return service.calls.last?.body
        }
        let body = try Samples.body { writer in
            try writer.string("Ann")
            let optional = writer.beginArray(elementAlignment: 4)
            writer.int32(10)
            try writer.endArray(optional)
            let parts = writer.beginArray(elementAlignment: 8)
            writer.align(8)
            writer.double(1)
            try writer.string("P")
            try writer.endArray(parts)
        }
        #expect(try await sent("urgent", kind: "page") == body)
        #expect(try await sent("10", kind: "P") == body)
        for (priority, kind, message) in [
            ("urgnt", "P", "'priority' is 'urgnt'; did you mean 'urgent'?"),
            ("x", "P", "'priority' is 'x'; it must be low or urgent"),
            ("low", "x", "'parts[0].kind' is 'x'; it must be page"),
        ] {
            let failure = await #expect(throws: CLIFailure.self) { try await sent(priority, kind: kind) }
            #expect(failure?.code == .badValue && failure?.message == message)
        }
    }
    @Test("events are printed with the names of values; JSON has the values") func events() throws {
        let node = try IntrospectionParser.parse(Self.xml)
        func line(_ priority: Int32, json: Bool = false, fields: [WireField]? = nil) throws -> String {
            var printer = Samples.printer(json: json)
            printer.learn(node.interfaces)
            let body = try Samples.body { writer in
                writer.int32(priority)
                let parts = writer.beginArray(elementAlignment: 8)
                writer.align(8)
                writer.double(1)
                try writer.string("P")
                try writer.endArray(parts)
                for _ in 0..<3 { writer.uint64(0) }
            }
            let event = Envelope(
                interface: "org.example.Post1", name: "LetterSent", signature: "ia(ds)ttt", body: body,
                stamp: Samples.stamp(1), fields: fields)
            var output = ByteBuffer()
            #expect(printer.append(event, to: &output) == nil)
            return output.text
        }
        let told = [
            WireField(name: "priority", type: .int32),
            WireField(
                name: "parts",
                type: .array(
                    .structure([WireField(name: "height", type: .double), WireField(name: "kind", type: .string)]))),
        ]
        for fields in [nil, told] {
            #expect(
                try line(10, fields: fields).hasSuffix(
                    #"LetterSent priority=urgent parts=[{"height":1.0,"kind":"page"}]"# + "\n"))
            #expect(try line(3, fields: fields).contains(" priority=3 "))
            #expect(
                try line(10, json: true, fields: fields).contains(
                    #""fields":{"priority":10,"parts":[{"height":1.0,"kind":"P"}]}"#))
        }
    }
    @Test("list names cases and refusals") func list() async throws {
        let result = try await List().output(
            of: "a.b", asking: service, style: OutputStyle(), timeout: .seconds(1))
        let text = String(decoding: result, as: UTF8.self)
        #expect(text.contains("LetterSent  priority: low | urgent, parts: [(height: double, kind: page)]\n"))
        #expect(text.contains(" -> number: uint64 or NoStamp\n"))
    }
    @Test(
        "an annotation that is malformed, or does not fit, only says less",
        arguments: [
            "", "[]", "{", #"{"low":{}}"#, #"{"low":"text"}"#, #"{"low":1.5}"#, #"{"low":99999999999999999999}"#,
        ])
    func malformed(_ value: String) throws {
        let escaped = value.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "&quot;")
        let node = try IntrospectionParser.parse(
            """
            <node><interface name="a.b"><method name="M"><arg name="v" type="i"><annotation
            name="org.eventrelay.Cases" value="\(escaped)"/><annotation name="org.eventrelay.Casesx" value="{}"/></arg>
            <annotation name="org.eventrelay.Failures" value="\(escaped)"/></method></interface></node>
            """)
        let command = node.interfaces[0].commands[0]
        #expect(command.arguments == [IntrospectedField(name: "v", shape: .basic(.int32))])
        #expect(command.failures == (value == #"{"low":"text"}"# ? [.init(name: "low", message: "text")] : []))
    }
}
