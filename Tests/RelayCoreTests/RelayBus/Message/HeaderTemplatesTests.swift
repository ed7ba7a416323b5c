import RelayWire
import TestTraits
import Testing

@testable import RelayBus

@Suite("Header templates", .computing, .tags(.g1)) struct HeaderTemplatesTests {
    /// Each differs from the first in one field.
    private static func headers() throws -> [MessageHeader] {
        func call(
            _ path: String = "/org/example/A", _ interface: String? = "org.example.A", _ member: String = "Do",
            _ destination: String? = ":1.7", _ signature: String = "s", flags: MessageHeader.Flags = []
        ) throws -> MessageHeader {
            .methodCall(
                path: path, interface: interface, member: member, destination: destination,
                signature: try Signature(signature), flags: flags)
        }
        return [
            try call(), try call("/org/example/B"), try call("/org/example/A", nil),
            try call("/org/example/A", "org.example.B"),
            try call("/org/example/A", "org.example.A", "Undo"),
            try call("/org/example/A", "org.example.A", "Do", ":1.8"),
            try call("/org/example/A", "org.example.A", "Do", nil),
            try call("/org/example/A", "org.example.A", "Do", ":1.7", "u"),
            try call("/org/example/A", "org.example.A", "Do", ":1.7", "s", flags: .noAutoStart),
            .signal(path: "/org/example/A", interface: "org.example.A", member: "Do"),
            .methodReturn(to: 1, destination: ":1.7"), .methodReturn(to: 0x8000_0001, destination: ":1.7"),
            .methodReturn(to: 7, destination: ":1.8"),
            .methodReturn(to: 7, destination: ":1.7", signature: try Signature("as")),
        ]
    }

    @Test("what they make is what the header writes, whatever came before") func same() throws {
        var templates = HeaderTemplates()
        let headers = try Self.headers()
        // Twice, so that each is once made and once found.
        for (number, header) in (headers + headers.reversed()).enumerated() {
            let serial = UInt32(number + 1)
            var (made, written) = (WireWriter(), WireWriter())
            let template = try #require(try templates.template(of: header))
            template.begin(&made)
            HeaderTemplates.fillIn(header, &made)
            made.uint32(5)
            try template.finish(&made, serial: serial)
            let start = try header.write(into: &written, serial: serial)
            written.uint32(5)
            try MessageHeader.finish(&written, bodyStart: start)
            #expect(made.bytes == written.bytes, "\(header)")
        }
    }
    @Test("more than they keep replace each other, and are right all the same") func many() throws {
        var templates = HeaderTemplates()
        for number in 0..<(3 * HeaderTemplates.limit) {
            for caller in [number, number / 2, 0] {
                let header = MessageHeader.methodReturn(to: UInt32(number + 1), destination: ":1.\(caller)")
                let template = try #require(try templates.template(of: header))
                var (made, written) = (WireWriter(), WireWriter())
                template.begin(&made)
                HeaderTemplates.fillIn(header, &made)
                try template.finish(&made, serial: 9)
                try MessageHeader.finish(&written, bodyStart: try header.write(into: &written, serial: 9))
                #expect(made.bytes == written.bytes)
            }
        }
    }
    @Test("a bad field is refused each time, and an error has none") func refused() throws {
        var templates = HeaderTemplates()
        let bad = [
            MessageHeader.methodReturn(to: 0, destination: ":1.7"),
            .methodCall(path: "no path", interface: nil, member: "Do", destination: nil),
            .methodCall(path: "/", interface: nil, member: "no member", destination: nil),
        ]
        _ = try templates.template(of: .methodReturn(to: 1, destination: ":1.7"))
        for header in bad + bad {
            let error = #expect(throws: RelayError.self) { try templates.template(of: header) }
            #expect(error?.code == .invalidArgument)
        }
        let none = try templates.template(of: .error("org.example.E", to: 1, destination: nil))
        #expect(none?.header == nil)
    }
}
