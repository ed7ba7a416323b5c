import Testing

@testable import RelayCore
import RelayWire

@Suite("The contract's id") struct ContractIDTests {
    private static func fields(_ texts: String...) throws -> [WireField] {
        try texts.map { try WireField(parsing: $0) }
    }
    private func id(_ commands: ContractCommand..., in interface: String = "org.example.A1") -> ContractID {
        ContractID([ContractText(name: interface, isDurable: false, commands: commands)])
    }

    @Test("has a fixed value, which is the same in each process") func stable() throws {
        let move = ContractCommand(name: "Move", arguments: try Self.fields("from:x", "to:x"))
        #expect(id(move).description == "cc92a45436708827" && id().description == "cbf29ce484222325")
        #expect(id(move).path(of: "/org/example/A1") == "/org/example/A1/ccc92a45436708827")
    }
    @Test("does not depend on the order of declaration, and depends on everything that travels") func whatCounts()
        throws
    {
        let (a, b) = (try Self.fields("from:x", "to:x"), try Self.fields("count:i"))
        func move(
            _ arguments: [WireField], _ reply: [WireField] = [], _ progress: [WireField]? = nil
        ) -> ContractCommand {
            ContractCommand(name: "Move", arguments: arguments, reply: reply, progress: progress)
        }
        let (one, other) = (move(a), ContractCommand(name: "Stop", arguments: b))
        #expect(id(one, other) == id(other, one))
        let texts = ["A1", "B1"].map { ContractText(name: "org.example.\($0)", isDurable: false, commands: [one]) }
        #expect(ContractID(texts) == ContractID(texts.reversed()) && ContractID(texts) != ContractID([texts[0]]))
        #expect(id(one) == id(ContractCommand(name: "Move", arguments: a, isCancellable: true)))
        let variants = [
            id(), id(one), id(other), id(one, other), id(one, in: "org.example.B1"),
            id(ContractCommand(name: "Go", arguments: a)), id(move(a.reversed())), id(move(a, b)), id(move(a, [], b)),
            id(move(a + b)), id(move(try Self.fields("boxes:a(title:s,size:?i)"))),
            id(move(try Self.fields("boxes:a(title:s,size:i)"))), id(move(try Self.fields("boxes:a(label:s,size:?i)"))),
            id(move(try Self.fields("boxes:a(title|label:s,size:?i)"))), id(move(try Self.fields("from|of:x", "to:x"))),
        ]
        #expect(Set(variants).count == variants.count)
    }
    @Test("is read as 16 hexadecimal digits, and nothing else") func parsing() {
        #expect(ContractID("0123456789abcdef")?.description == "0123456789abcdef")
        for text in ["", "0123456789abcde", "0123456789abcdef0", "0123456789ABCDEF", "0123456789abcde/", "ééééééé0"] {
            #expect(ContractID(text) == nil, "\(text)")
        }
        #expect(ContractID.isChecked("/a/c0123456789abcdef") && ContractID.isChecked("/c0123456789abcdef"))
        for path in ["/", "/c", "/a/0123456789abcdef", "/a/c0123456789abcde", "/c0123456789abcdef/a"] {
            #expect(!ContractID.isChecked(path), "\(path)")
        }
    }
    @Test("the answer of Contract is read as it was written; another id is a schema mismatch") func answer() throws {
        let id = ContractID([])
        var body = WireWriter()
        try Stream1.write(id, ["org.example.B1": "b\n", "org.example.A1": ""], into: &body)
        let read = try body.bytes.withUnsafeBytes { bytes in
            var reader = WireReader(bytes)
            return try Stream1.readContract(&reader)
        }
        #expect(read.id == id && read.contracts == ["org.example.B1": "b\n", "org.example.A1": ""])
        var other = WireWriter()
        try other.string("c0")
        other.uint32(0)
        let bytes = other.bytes
        #expect(throws: RelayError.self) {
            try bytes.withUnsafeBytes { bytes in
                var reader = WireReader(bytes)
                _ = try Stream1.readContract(&reader)
            }
        }
    }
}
