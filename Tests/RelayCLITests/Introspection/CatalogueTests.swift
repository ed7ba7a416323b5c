import RelayCore
import RelayTool
import Testing

@testable import relay_cli
import RelayWire

@Suite("What a service offers")
struct CatalogueTests {
    @Test("the tree is walked from /, and objects with Stream1 are the ones offered")
    func discovery() async throws {
        var objects = Samples.objects
        objects["/org"] = Samples.childrenXML("eventrelay", "other")
        objects["/org/other"] = #"<node><interface name="com.example.Other"><signal name="Ping"/></interface></node>"#
        let service = FakeService(objects: objects)
        let catalogue = try await Discovery(caller: service, timeout: .seconds(1)).catalogue()
        #expect(catalogue.offered.map(\.interface.name) == ["org.eventrelay.Relocation1"])
        #expect(catalogue.offered.map(\.path) == ["/org/eventrelay/Relocation1"])
        #expect(catalogue.entries.map(\.interface.name).contains("com.example.Other"))
        #expect(Set(service.calls.map(\.path)) == Set(objects.keys))
        #expect(service.calls.count == objects.count)
    }

    @Test("an endless tree, or one that goes round, comes to an end")
    func endless() async throws {
        struct Endless: ServiceCaller {
            func call(_ call: OutgoingCall, timeout: Duration) async throws -> IncomingReply {
                IncomingReply(signature: "s", body: try Samples.body { try $0.string(Samples.childrenXML("a", "b")) })
            }
        }
        let failure = await #expect(throws: CLIFailure.self) {
            try await Discovery(caller: Endless(), timeout: .seconds(1)).catalogue()
        }
        #expect(failure?.code == .software)
    }

    @Test("an answer that is no description names the object")
    func malformed() async {
        let failure = await #expect(throws: CLIFailure.self) {
            try await Discovery(caller: FakeService(objects: ["/": "<node>"]), timeout: .seconds(1)).catalogue()
        }
        #expect(failure?.code == .software)
        #expect(failure?.message.contains("object '/'") == true)
    }

    @Test("without names all events are selected; with names, those of every interface that has them")
    func selection() throws {
        let catalogue = try Samples.catalogue()
        #expect(try catalogue.selection(of: []).names == ["org.eventrelay.Relocation1": nil])
        #expect(
            try catalogue.selection(of: ["Ping", "org.eventrelay.Relocation1.BoxProvisioned", "Ping"]).names
                == ["org.eventrelay.Relocation1": ["Ping", "BoxProvisioned"]])
    }

    @Test("an unknown event is refused with what it is near to; the machinery's signals are no events")
    func unknownEvent() throws {
        let catalogue = try Samples.catalogue()
        func message(_ name: String) throws -> String {
            let failure = try #require(throws: CLIFailure.self) { try catalogue.selection(of: [name]) }
            #expect(failure.code == .usage)
            return failure.message
        }
        #expect(try message("BoxProvisoned") == "no event 'BoxProvisoned'; did you mean 'BoxProvisioned'?")
        #expect(
            try message("org.eventrelay.Relocation1.BoxProvisoned")
                == "no event 'org.eventrelay.Relocation1.BoxProvisoned'; did you mean "
                + "'org.eventrelay.Relocation1.BoxProvisioned'?")
        #expect(try message("Weather") == "no event 'Weather'; 'list' shows what there is")
        #expect(try message("Head").hasPrefix("no event 'Head'"))
        #expect(try message(".BoxProvisioned").hasPrefix("no event"))
    }

    @Test("a command is found by its name or its qualified name; unknown ones are refused with near misses")
    func commands() throws {
        let catalogue = try Samples.catalogue()
        #expect(try catalogue.command("OrderBox").interface == "org.eventrelay.Relocation1")
        #expect(try catalogue.command("org.eventrelay.Relocation1.OrderBox").path == "/org/eventrelay/Relocation1")
        #expect(try catalogue.command("org.eventrelay.Stream1.Status").command.name == "Status")
        #expect(
            throws: CLIFailure(.usage, "no command 'OrderBx'; did you mean 'OrderBox'?")
        ) { try catalogue.command("OrderBx") }
        #expect(throws: CLIFailure.self) { try catalogue.command("Status") }
        #expect(throws: CLIFailure.self) { try catalogue.command("Introspect") }
    }

    @Test("a command of two interfaces has to be qualified")
    func ambiguous() throws {
        func node(_ interface: String) throws -> IntrospectedNode {
            try IntrospectionParser.parse(
                """
                <node><interface name="org.eventrelay.Stream1"/><interface name="\(interface)"><method name="Do"/>
                </interface></node>
                """)
        }
        let catalogue = Catalogue([("/a", try node("x.A")), ("/b", try node("x.B"))])
        #expect(
            throws: CLIFailure(.usage, "'Do' is a command of more than one interface; say which: x.A.Do, x.B.Do")
        ) { try catalogue.command("Do") }
        #expect(try catalogue.command("x.B.Do").path == "/b")
        let twice = Catalogue([("/a", try node("x.A")), ("/b", try node("x.A"))])
        let failure = try #require(throws: CLIFailure.self) { try twice.command("x.A.Do") }
        #expect(failure.message.contains("/a, /b"))
    }
}
