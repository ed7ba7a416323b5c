import TestTraits
import Testing

@testable import RelayWire

@Suite("Introspection", .tags(.g8)) struct IntrospectionXMLTests {
    struct Shelved: WireTestEvent { var boxID: Int64, shelves: [Shelf], note: String? }
    struct Reply: Codable { var boxID: Int64 }

    @Test("events have their fields and their stamp, commands and properties theirs, all named")
    func rendered() throws {
        let interface = InterfaceDescription(
            "org.example.WireTest1",
            methods: [
                .init(
                    command: "OrderBox", in: try WireSchema(of: Minimal.self).fields,
                    out: try WireSchema(of: Reply.self).fields)
            ], signals: [.init(event: "Shelved", fields: try WireSchema(event: Shelved.self).fields)],
            properties: [
                .init(.init("Version", "u"), .read, emits: .constant),
                .init(.init(WireField(name: "Boxes", type: .optional(.string))), .readwrite),
            ], annotations: [.init("org.example.Note", "a < b & \"c\" > 'd'\n\u{1}")])
        try interface.check()
        let xml = IntrospectionXML.render([interface], children: ["Relocation1"])
        #expect(
            xml == """
                <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
                 "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
                <node>
                  <interface name="org.example.WireTest1">
                    <method name="OrderBox">
                      <arg name="boxID" type="x" direction="in"/>
                      <arg name="boxID" type="x" direction="out"/>
                    </method>
                    <signal name="Shelved">
                      <arg name="boxID" type="x"/>
                      <arg name="shelves" type="a(sa(ddad)(ii))">
                        <annotation name="org.eventrelay.Fields" value="a(label:s,sizes:a(width:d,height:d,depth:?d),free:(_0:i,_1:i))"/>
                      </arg>
                      <arg name="note" type="as">
                        <annotation name="org.eventrelay.Fields" value="?s"/>
                      </arg>
                      <arg name="sequence" type="t"/>
                      <arg name="previous" type="t"/>
                      <arg name="publishedAt" type="t"/>
                    </signal>
                    <property name="Version" type="u" access="read">
                      <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="const"/>
                    </property>
                    <property name="Boxes" type="as" access="readwrite">
                      <annotation name="org.eventrelay.Fields" value="?s"/>
                      <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="true"/>
                    </property>
                    <annotation name="org.example.Note" value="a &lt; b &amp; &quot;c&quot; &gt; &apos;d&apos;&#10;\u{FFFD}"/>
                  </interface>
                  <node name="Relocation1"/>
                </node>

                """)
    }
    @Test("an interface that no event fits is described by hand") func stream() throws {
        let stream = InterfaceDescription(
            "org.eventrelay.Stream1",
            methods: [
                .init(
                    "Attach", in: [.init("epoch", "t"), .init("after", "t"), .init("options", "a{sv}")],
                    out: [.init("last", "a{st}")])
            ], signals: [.init("Head", [.init("epoch", "t"), .init("sequence", "t"), .init("last", "a{st}")])])
        try stream.check()
        let xml = IntrospectionXML.render([stream])
        #expect(xml.contains("<arg name=\"last\" type=\"a{st}\" direction=\"out\"/>"))
        #expect(!xml.contains("publishedAt"))
    }
    @Test("the standard interfaces are sound, and an empty node is one") func standard() throws {
        for interface in StandardInterfaces.all { try interface.check() }
        #expect(
            StandardInterfaces.all.map(\.name).map { $0.split(separator: ".").last }
                == ["Introspectable", "Properties", "Peer"])
        #expect(IntrospectionXML.render([]).hasSuffix("<node/>\n"))
    }
    @Test("bad and doubled names, and arguments that are not of one type, are refused") func refusals() {
        let bad: [InterfaceDescription] = [
            .init("nodots"), .init("a.b", methods: [.init("A"), .init("A")]), .init("a.b", methods: [.init("a b")]),
            .init("a.b", signals: [.init("A", [.init("x", "ss")])]),
            .init("a.b", signals: [.init("A", [.init("x", "")])]),
            .init("a.b", methods: [.init("A", in: [.init("1", "s")])]),
            .init("a.b", properties: [.init(.init("P", "z"))]),
        ]
        for interface in bad {
            let error = #expect(throws: RelayError.self) { try interface.check() }
            #expect(error?.code == .invalidArgument)
        }
    }
}
