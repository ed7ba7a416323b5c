import Foundation
import RelayCore
import RelayTool
import TestTraits
import Testing

@testable import relay_cli
import RelayWire

@Suite("Introspection", .computing, .tags(.g8))
struct IntrospectionParserTests {
    private func failure(_ xml: String) -> IntrospectionFailure? {
        do throws(IntrospectionFailure) {
            _ = try IntrospectionParser.parse(xml)
            return nil
        } catch { return error }
    }

    @Test("events, commands, properties, names and annotations are read")
    func relocation() throws {
        let node = try IntrospectionParser.parse(Samples.relocationXML)
        #expect(node.children.isEmpty)
        #expect(
            node.interfaces.map(\.name) == [
                "org.freedesktop.DBus.Introspectable", "org.eventrelay.Stream1", "org.eventrelay.Relocation1",
            ])
        let interface = try #require(node.interfaces.last)
        #expect(interface.events.map(\.name) == ["BoxProvisioned", "TruckLoaded", "Ping"])
        let box = interface.events[0]
        #expect(box.isStamped)
        #expect(box.signature == "xisttt")
        #expect(box.fields.map { $0.name + ":" + $0.shape.text } == ["boxID:int64", "capacity:int32", "title:string"])
        #expect(interface.events[1].fields.map(\.shape.text) == ["[(label: string, height: double?)]", "string?"])
        #expect(interface.events[2].fields.isEmpty && interface.events[2].isStamped)
        let order = interface.commands[0]
        #expect(order.name == "OrderBox")
        #expect(order.arguments.map(\.name) == ["label", "capacity"])
        #expect(order.reply.map(\.name) == ["boxID"])
        #expect(interface.properties.map(\.value.name) == ["Inventory"])
        #expect(interface.properties[0].isReadable && !interface.properties[0].isWritable)
    }

    @Test("a signal without the stamp's three arguments keeps all of them")
    func unstamped() throws {
        let node = try IntrospectionParser.parse(
            #"<node><interface name="a.b"><signal name="S"><arg type="t"/><arg type="s" name="x"/></signal></interface></node>"#
        )
        let event = node.interfaces[0].events[0]
        #expect(!event.isStamped)
        #expect(event.signature == "ts")
        #expect(event.fields.map(\.name) == ["arg0", "x"])
    }

    @Test("unnamed arguments are counted, in and out apart")
    func unnamed() throws {
        let node = try IntrospectionParser.parse(
            """
            <node><interface name="a.b"><method name="M"><arg type="s"/><arg direction="out" type="i"/>
            <arg direction="in" type="u"/></method></interface></node>
            """)
        let command = node.interfaces[0].commands[0]
        #expect(command.arguments.map(\.name) == ["arg0", "arg1"])
        #expect(command.reply.map(\.name) == ["arg0"])
    }

    @Test("an annotation that does not fit the signature, or is none, is left aside")
    func wrongAnnotation() throws {
        for annotation in ["(a:i,b:i)", "nonsense", ""] {
            let node = try IntrospectionParser.parse(
                """
                <node><interface name="a.b"><signal name="S"><arg type="(is)" name="x"><annotation
                name="org.eventrelay.Fields" value="\(annotation)"/></arg></signal></interface></node>
                """)
            #expect(node.interfaces[0].events[0].fields[0].shape.text == "(int32, string)")
        }
    }

    @Test("children are listed at any depth; what is unknown is passed over; a DOCTYPE is no harm")
    func children() throws {
        let node = try IntrospectionParser.parse(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
            <!-- a comment --><node name="/">
            <docs><node name="not one"/></docs><node name="org"><node name="eventrelay"/></node><node name="a/b"/>
            <interface name="a.b"><docs/><signal name="S"/><annotation name="x" value="y"/></interface></node>
            """)
        #expect(node.children == ["org", "org/eventrelay", "a/b"])
        #expect(node.interfaces.map(\.name) == ["a.b"])
    }

    @Test("a nested object's interfaces are not its parent's")
    func nested() throws {
        let node = try IntrospectionParser.parse(
            #"<node><node name="c"><interface name="a.b"><signal name="S"/></interface></node></node>"#)
        #expect(node.interfaces.isEmpty && node.children == ["c"])
    }

    @Test("a billion laughs, and every other entity, is refused before it can grow")
    func billionLaughs() {
        var entities = #"<!ENTITY lol "lol">"#
        for level in 1...9 {
            let body = String(repeating: "&l\(level - 1);", count: 10).replacing("&l0;", with: "&lol;")
            entities += "<!ENTITY l\(level) \"\(body)\">"
        }
        #expect(failure("<!DOCTYPE node [\(entities)]><node name=\"&l9;\"/>") == .entities(line: 1))
        #expect(
            failure("<!DOCTYPE node [<!ENTITY x SYSTEM \"file:///etc/passwd\">]>\n<node>&x;</node>")
                == .entities(line: 1))
        #expect(failure("<!DOCTYPE node [\n<!ENTITY % p \"x\">]><node/>") == .entities(line: 2))
    }

    @Test("size, depth and number of elements are bounded")
    func bounds() {
        let huge = "<node>" + String(repeating: " ", count: IntrospectionParser.largest) + "</node>"
        #expect(failure(huge) == .tooLarge(huge.utf8.count))
        #expect(failure(String(repeating: "<node name='a'>", count: 100_000)) == .excessive(line: 1))
        #expect(failure(String(repeating: "<x>", count: 100_000)) == .excessive(line: 1))
        #expect(failure("<node>" + String(repeating: "<x/>", count: 60_000) + "</node>") == .excessive(line: 1))
    }

    @Test("every truncation of a good text is a typed failure")
    func truncated() {
        let text = Samples.relocationXML
        let end = text.range(of: "</node>", options: .backwards)?.lowerBound ?? text.endIndex
        for index in text[..<end].indices {
            #expect(failure(String(text[..<index])) != nil)
        }
        #expect(failure(text) == nil)
    }

    @Test("mutations of a good text end in a value or a typed failure")
    func mutated() {
        let bytes = Array(Samples.relocationXML.utf8)
        var generator = SeededGenerator(seed: 42)
        var failures = 0
        let rounds = TestForm.rounds(5_000, soak: 50_000)
        for _ in 0..<rounds {
            var mutated = bytes
            for _ in 0...Int(generator.next() % 4) {
                let index = Int(generator.next() % UInt64(mutated.count))
                switch generator.next() % 3 {
                case 0: mutated[index] = UInt8(truncatingIfNeeded: generator.next())
                case 1: mutated.remove(at: index)
                default: mutated.insert(mutated[Int(generator.next() % UInt64(mutated.count))], at: index)
                }
            }
            if failure(String(decoding: mutated, as: UTF8.self)) != nil { failures += 1 }
        }
        #expect(failures > rounds / 5, "seed 42")
    }

    @Test("names that D-Bus's grammar has not do not come through: an argument's is counted, others are left out")
    func hostileNames() throws {
        let evil = "$(touch x)`x`&quot;&apos;&#10;-rf \u{202E}\u{85}\u{7F}"
        let json = #"{"$(touch x)":"a","\u001b[2J":"b","Plain":"c"}"#.replacing("\"", with: "&quot;")
        let node = try IntrospectionParser.parse(
            """
            <node><interface name="a.B">
              <method name="M">
                <arg name="\(evil)" type="s" direction="in"><annotation name="org.eventrelay.Cases" value="\(json)"/></arg>
                <arg name="arg2" type="s" direction="in"/><arg name="x y" type="s" direction="in"/>
                <arg name="arg2" type="s" direction="in"/>
                <arg name="\(evil)" type="i" direction="out">
                  <annotation name="org.eventrelay.Cases" value="{&quot;\u{202E}&quot;:1}"/>
                  <annotation name="org.eventrelay.Unit.a.$(x)" value="m"/>
                  <annotation name="org.eventrelay.Unit." value="m"/>
                  <annotation name="org.eventrelay.Unit.a.b" value="m"/>
                </arg>
                <annotation name="org.eventrelay.Failures" value="\(json)"/>
              </method>
              <signal name="S"><arg name="\(evil)" type="s"/><arg name="sequence" type="t"/>
                <arg name="previous" type="t"/><arg name="publishedAt" type="t"/></signal>
            </interface></node>
            """)
        let command = try #require(node.interfaces.first?.commands.first)
        #expect(command.arguments.map(\.name) == ["arg0", "arg2", "arg2_", "arg3"])
        #expect(command.arguments[0].shape == .named(.string, [WireCase("Plain", .text("c"))]))
        #expect(command.reply.map(\.name) == ["arg0"] && command.reply[0].shape == .basic(.int32))
        #expect(command.reply[0].notes.inner.keys.sorted() == ["a.b"])
        #expect(command.failures.map(\.name) == ["Plain"])
        let event = try #require(node.interfaces.first?.events.first)
        #expect(event.fields.map(\.name) == ["arg0"] && event.isStamped)
    }

    @Test(
        "what D-Bus does not allow is refused, with the line and the name",
        arguments: [
            ("", nil), ("not xml", nil), ("<node", nil), ("<node></interface>", nil), ("<node/><node/>", nil),
            ("<interface name='a.b'/>", nil),
            (
                "<node>\n<interface name='nodots'/></node>",
                .illegalName(kind: "interface", name: "nodots", line: 2)
            ),
            ("<node><node name='../etc'/></node>", .illegalName(kind: "node", name: "../etc", line: 1)),
            ("<node><node name=''/></node>", .illegalName(kind: "node", name: "", line: 1)),
            ("<node><node name='/abs'/></node>", .illegalName(kind: "node", name: "/abs", line: 1)),
            (
                "<node><interface name='a.b'><signal name='x y'/></interface></node>",
                .illegalName(kind: "member", name: "x y", line: 1)
            ),
            (
                "<node><interface name='a.b'><method name=''/></interface></node>",
                .illegalName(kind: "member", name: "", line: 1)
            ),
            (
                "<node><interface name='a.b'><signal name='S'><arg type='ii'/></signal></interface></node>",
                .illegalSignature("ii", of: "S", line: 1)
            ),
            (
                "<node><interface name='a.b'><signal name='S'><arg/></signal></interface></node>",
                .illegalSignature("", of: "S", line: 1)
            ),
            (
                "<node><interface name='a.b'><property name='P' type='z' access='read'/></interface></node>",
                .illegalSignature("z", of: "P", line: 1)
            ),
        ] as [(String, IntrospectionFailure?)])
    func refused(xml: String, expected: IntrospectionFailure?) throws {
        let found = try #require(failure(xml))
        if let expected {
            #expect(found == expected)
        } else {
            guard case .malformed = found else {
                Issue.record("\(found)")
                return
            }
        }
        #expect(!found.description.isEmpty)
    }
}
