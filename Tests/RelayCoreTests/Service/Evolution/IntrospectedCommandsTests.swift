import TestTraits
import Testing

@testable import RelayCore

@Suite("Commands in introspection data", .tags(.g8)) struct IntrospectedCommandsTests {
    private func read(_ text: String) -> [String: ContractRecord.Command] {
        IntrospectedCommands.read(text, of: "org.example.Shop1")
    }
    @Test("what this library writes is read back") func own() {
        let description = InterfaceDescription(
            "org.example.Shop1",
            methods: [
                .init("Order", in: [.init("item", "s"), .init("sizes", "a(is)")], out: [.init("orderID", "x")]),
                .init("Ping"),
            ],
            signals: [.init("Opened", [.init("at", "x")])])
        let text = IntrospectionXML.render([StandardInterfaces.properties, description] + StandardInterfaces.all)
        #expect(
            read(text) == [
                "Order": .init(input: "sa(is)", output: "x"), "Ping": .init(input: "", output: ""),
            ])
    }
    @Test("other ways to write the same are understood") func others() {
        let text = """
            <?xml version='1.0'?>
            <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
                "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
            <!-- <interface name="org.example.Shop1"><method name="Hidden"/> -->
            <node><interface name='org.example.Other'><method name='No'/></interface>
              <interface
                  name = 'org.example.Shop1' >
                <method name="A"><annotation name="x" value="a > b"/><arg type='s'/><arg direction="out" type="u"></arg></method>
                <method name="B"/>
              </interface><interface name="org.example.Last1"><method name="No"/></interface></node>
            """
        #expect(read(text) == ["A": .init(input: "s", output: "u"), "B": .init(input: "", output: "")])
    }
    @Test(
        "what is no XML has no commands, and ends",
        arguments: [
            "", "<", "<<<<", "<interface", "<interface name", "<interface name=", "<interface name='org.example.Shop1",
            "<!--", "<!-- -", ">", "<a =", "<a ='", "</", "<//>", "<interface name='org.example.Shop1'><method",
            "<interface name='org.example.Shop1'><method>", String(repeating: "<a ", count: 10_000),
            String(repeating: "<", count: 100_000),
        ])
    func hostile(text: String) { #expect(read(text).isEmpty) }
}
