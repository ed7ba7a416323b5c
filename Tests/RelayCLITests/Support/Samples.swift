import RelayCore
import RelayTool

@testable import relay_cli
import RelayWire

/// What a service built with RelayCore says, and bodies that it would send.
enum Samples {
    static let relocationXML = """
        <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
         "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
        <node>
          <interface name="org.freedesktop.DBus.Introspectable">
            <method name="Introspect"><arg name="xml_data" type="s" direction="out"/></method>
          </interface>
          <interface name="org.eventrelay.Stream1">
            <method name="Status"><arg name="status" type="a{sv}" direction="out"/></method>
            <signal name="Head"><arg name="epoch" type="t"/><arg name="sequence" type="t"/></signal>
          </interface>
          <interface name="org.eventrelay.Relocation1">
            <signal name="BoxProvisioned">
              <arg name="boxID" type="x"/><arg name="capacity" type="i"/><arg name="title" type="s"/>
              <arg name="sequence" type="t"/><arg name="previous" type="t"/><arg name="publishedAt" type="t"/>
            </signal>
            <signal name="TruckLoaded">
              <arg name="shelves" type="a(sad)">
                <annotation name="org.eventrelay.Fields" value="a(label:s,height:?d)"/>
              </arg>
              <arg name="note" type="as"><annotation name="org.eventrelay.Fields" value="?s"/></arg>
              <arg name="sequence" type="t"/><arg name="previous" type="t"/><arg name="publishedAt" type="t"/>
            </signal>
            <signal name="Ping">
              <arg name="sequence" type="t"/><arg name="previous" type="t"/><arg name="publishedAt" type="t"/>
            </signal>
            <method name="OrderBox">
              <arg name="label" type="s" direction="in"/><arg name="capacity" type="i" direction="in"/>
              <arg name="boxID" type="x" direction="out"/>
            </method>
            <method name="RemoveBox"><arg name="boxID" type="x" direction="in"/></method>
            <method name="Contents">
              <arg name="boxes" type="a(xs)" direction="out">
                <annotation name="org.eventrelay.Fields" value="a(boxID:x,title:s)"/>
              </arg>
            </method>
            <property name="Inventory" type="u" access="read"/>
          </interface>
        </node>
        """

    static func childrenXML(_ names: String...) -> String {
        "<node>" + names.map { "<node name=\"\($0)\"/>" }.joined() + "</node>"
    }

    /// The objects of a service with one interface.
    static let objects = [
        "/": childrenXML("org"), "/org": childrenXML("eventrelay"),
        "/org/eventrelay": childrenXML("Relocation1"), "/org/eventrelay/Relocation1": relocationXML,
    ]

    static func relocation() throws -> IntrospectedInterface {
        let node = try IntrospectionParser.parse(relocationXML)
        return node.interfaces[2]
    }
    static func catalogue() throws -> Catalogue {
        Catalogue([("/org/eventrelay/Relocation1", try IntrospectionParser.parse(relocationXML))])
    }

    static func body(_ write: (inout WireWriter) throws -> Void) rethrows -> [UInt8] {
        var writer = WireWriter()
        try write(&writer)
        return writer.bytes
    }

    static func boxProvisioned(
        _ sequence: UInt64, previous: UInt64 = 0, title: String = "Kitchen", at time: UInt64 = 1_795_166_104_123_456
    ) throws -> Envelope {
        let body = try body { writer in
            writer.int64(3)
            writer.int32(10)
            try writer.string(title)
            for stamp in [sequence, previous, time] { writer.uint64(stamp) }
        }
        return Envelope(
            interface: "org.eventrelay.Relocation1", name: "BoxProvisioned", signature: "xisttt", body: body,
            stamp: Samples.stamp(sequence, previous: previous, at: time))
    }
    /// Of an annotation, or of a signature, which has types that an annotation has not.
    static func shape(_ text: String) throws -> Shape {
        try Shape(annotation: text) ?? Shape(Signature(text).types[0])
    }
    static func stamp(_ sequence: UInt64, previous: UInt64 = 0, at time: UInt64 = 0, epoch: UInt64 = 1) -> Stamp {
        Stamp(epoch: epoch, sequence: sequence, previous: previous, publishedAt: Timestamp(microseconds: time))
    }
    /// 2026-11-20T13:37:00.5Z, where clocks show that.
    static let time = LocalTime(now: Timestamp(microseconds: 1_795_181_820_500_000)) { _ in 0 }
    static func printer(json: Bool = false, color: Bool = false) -> EventPrinter {
        EventPrinter(style: OutputStyle(json: json, hasColor: color), clock: EventClock { _ in 0 })
    }
}
