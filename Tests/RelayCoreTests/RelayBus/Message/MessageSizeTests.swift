import CDBus
import RelayTestKit
import TestTraits
import Testing
import WireSupport

@testable import RelayBus
import RelayWire

@Suite("The size of a message, without a copy", .tags(.g3, .g8)) struct MessageSizeTests {
    private func message(_ signature: String, _ body: [UInt8], path: String = "/a") throws -> LibDBusMessage {
        let header = MessageHeader.signal(
            path: path, interface: "org.example.A1", member: "Went", signature: try Signature(signature))
        var writer = WireWriter()
        let start = try header.write(into: &writer, serial: 1)
        writer.append(body)
        try MessageHeader.finish(&writer, bodyStart: start)
        return try #require(LibDBusMessage.demarshalled(writer.bytes))
    }
    private func array(_ alignment: Int = 4, _ body: (inout WireWriter) throws -> Void) rethrows -> [UInt8] {
        var writer = WireWriter()
        let array = writer.beginArray(elementAlignment: alignment)
        try body(&writer)
        try? writer.endArray(array)
        return writer.bytes
    }

    @Test("more than the limit is found in any type, at any depth; less is none") func types() throws {
        let text = String(repeating: "x", count: 1_000)
        var string = WireWriter()
        try string.string(text)
        let bodies: [(String, [UInt8])] = [
            ("s", string.bytes),
            ("ay", array(1) { for _ in 0..<1_000 { $0.byte(1) } }),
            ("ab", array { for _ in 0..<250 { $0.bool(true) } }),
            ("at", array(8) { for _ in 0..<125 { $0.uint64(1) } }),
            ("as", try array { for _ in 0..<10 { try $0.string(String(text.prefix(100))) } }),
            ("a(t)", array(8) { for _ in 0..<125 { $0.uint64(1) } }),
            ("aay", array { for _ in 0..<300 { $0.uint32(0) } }),
        ]
        for (signature, body) in bodies {
            let message = try message(signature, body)
            #expect(MessageSize.exceeds(900, message.pointer), "\(signature)")
            #expect(!MessageSize.exceeds(1_500, message.pointer), "\(signature)")
        }
        #expect(!MessageSize.exceeds(900, try message("", []).pointer))
        let long = try message("", [], path: "/" + text)
        #expect(MessageSize.exceeds(900, long.pointer) && !MessageSize.exceeds(1_100, long.pointer))
        // A dictionary of variants of structures.
        var nested = WireWriter()
        try nested.value(
            .dictionary(
                .dictionary(.string, .variant),
                [.init(key: .string("key"), value: .variant(.structure([.bytes([UInt8](repeating: 1, count: 1_000))])))]
            ),
            as: .dictionary(.string, .variant))
        let variants = try message("a{sv}", nested.bytes)
        #expect(MessageSize.exceeds(900, variants.pointer) && !MessageSize.exceeds(1_100, variants.pointer))
    }
}
