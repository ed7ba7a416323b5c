import TestTraits
import Testing

@testable import RelayWire

@Suite("Translation between versions of a contract", .tags(.g8)) struct WireTranslationTests {
    private func fields(_ text: String) throws -> [WireField] {
        guard case .structure(let fields) = try WireField(parsing: "f:(\(text))").type else { return [] }
        return fields
    }
    private func translation(
        _ theirs: String, _ ours: String, _ rule: WireTranslation.Rule = .reading
    ) throws -> WireTranslation {
        try WireTranslation(from: try fields(theirs), to: try fields(ours), rule, of: "Order")
    }
    private func bytes(_ values: [DBusValue]) throws -> [UInt8] {
        var writer = WireWriter()
        try DBusValue.encode(values, into: &writer)
        return writer.bytes
    }

    @Test(
        "refuses before anything is sent: the field, both shapes and the remedy",
        arguments: [
            (
                "a:s", "a:x", WireTranslation.Rule.reading,
                ["'a'", "the sender sends 's'", "this program reads 'x'", "new name"]
            ),
            ("a:s", "a:?s", .reading, ["'a'", "'s'", "'?s'"]),
            ("a:s", "a:s,b:i", .reading, ["'b'", "the sender has none", "needs 'i'", "make it optional"]),
            ("a:s", "a:s,b:i", .asking, ["'b'", "this program has none", "the service needs 'i'"]),
            ("a:s,b:i", "a:s", .asking, ["'b'", "this program sends 'i'", "the service has none"]),
            ("boxes:a(id:x,title:s)", "boxes:a(id:x,title:i)", .reading, ["'boxes[].title'", "'s'", "'i'"]),
            ("a:a{s(b:?(c:i))}", "a:a{s(b:?(c:s))}", .reading, ["'a{}.b.c'", "'i'", "'s'"]),
            ("s:[on(level:i)]", "s:[on(level:i,of:i)]", .reading, ["'s.on.of'", "needs 'i'"]),
            ("s:[on(level:i)]", "s:[on]", .asking, ["'s.on.level'", "'i'", "the service has none"]),
            ("a:a{ss}", "a:a{xs}", .reading, ["'a'", "'a{ss}'", "'a{xs}'"]),
        ])
    func refused(_ theirs: String, _ ours: String, _ rule: WireTranslation.Rule, _ parts: [String]) throws {
        let error = #expect(throws: RelayError.self) { try translation(theirs, ours, rule) }
        #expect(error?.code == .schemaMismatch)
        for part in ["Order"] + parts { #expect(error?.message.contains(part) == true, "\(error?.message ?? "")") }
    }
    @Test("an argument that the service would lose is refused with its path; nil is left out")
    func lost() throws {
        let asking = try translation("boxes:a(id:x,note:?s)", "boxes:a(id:x)", .asking)
        func boxes(_ note: [DBusValue]) throws -> [UInt8] {
            let box = DBusValue.structure([.int64(1), .array(.string, note)])
            return try bytes([.array(.structure([.int64, .array(.string)]), [box])])
        }
        let plain = try bytes([.array(.structure([.int64]), [.structure([.int64(1)])])])
        #expect(try asking.translate(try boxes([])) == plain)
        let error = #expect(throws: RelayError.self) { try asking.translate(try boxes([.string("fragile")])) }
        #expect(error?.code == .schemaMismatch && error?.message.contains("'boxes[].note'") == true)
        #expect(error?.message.contains("nothing was done") == true)
        // A reader skips it.
        let reading = try translation("boxes:a(id:x,note:?s)", "boxes:a(id:x)")
        #expect(try reading.translate(try boxes([.string("fragile")])) == plain)
    }
    @Test("an unknown case is a mismatch of its value alone, with the case's name; an open enum takes it as it is")
    func unknownCase() throws {
        let values: [DBusValue] = [.structure([.string("scanning"), .variant(.structure([.byte(1), .int64(2)]))])]
        let (theirs, ours) = ("state:[idle,scanning(a:y,b:x)]", "state:[idle]")
        let closed = try translation(theirs, ours)
        let error = #expect(throws: RelayError.self) { try closed.translate(try bytes(values)) }
        #expect(error?.code == .schemaMismatch)
        for part in ["'state'", "'scanning'", "OpenTaggedEnum"] { #expect(error?.message.contains(part) == true) }
        let idle: [DBusValue] = [.structure([.string("idle"), .variant(.byte(0))])]
        #expect(try closed.translate(try bytes(idle)) == bytes(idle))

        let open = WireField(name: "state", type: .tagged([WireVariant(name: "idle", isOpen: true)]))
        let known = WireField(name: "more", type: .optional(.string))
        let taking = try WireTranslation(from: try fields(theirs), to: [open, known], .reading, of: "Order")
        #expect(try taking.translate(try bytes(values)) == bytes(values + [.array(.string, [])]))
        #expect(try WireTranslation(from: try fields(theirs), to: [open], .reading, of: "Order").isIdentity)
    }
    @Test("is the identity where the bytes are the same, and only there") func identity() throws {
        for (theirs, ours, isIdentity) in [
            ("a:s,b:?x", "a:s,b:?x", true), ("a:s", "b|a:s", true), ("b|a:s", "a:s", true),
            ("s:[a,b]", "s:[b,a]", true), ("s:[a]", "s:[b,a,c(d:i)]", true),
            ("s:a(b:[c(d|e:i)])", "s:a(b:[c(e:i)])", true),
            ("s:[a,b]", "s:[a]", false), ("a:s,b:?x", "b:?x,a:s", false), ("a:s,b:?x", "a:s", false),
        ] { #expect(try translation(theirs, ours).isIdentity == isIdentity, "\(theirs) \(ours)") }
    }
    @Test("a stamp behind the fields is kept; what is behind fields without one is refused") func stamp() throws {
        let translation = try translation("a:y,b:s", "b:s")
        let stamp: [DBusValue] = [.uint64(1), .uint64(2), .uint64(3)]
        let body = try bytes([.byte(1), .string("x")] + stamp)
        var writer = WireWriter()
        try body.withUnsafeBytes { try translation.translate($0, stamped: true, into: &writer) }
        #expect(writer.bytes == (try bytes([.string("x")] + stamp)))
        let error = #expect(throws: RelayError.self) { try translation.translate(body) }
        #expect(error?.code == .invalidArgument)
    }
    @Test("indices of descriptors are kept") func descriptors() throws {
        let translation = try translation("a:s,file:h", "file:h,other:?h")
        #expect(
            try translation.translate(try bytes([.string("x"), .unixFD(3)]))
                == bytes([.unixFD(3), .array(.unixFD, [])]))
    }
    @Test("broken bytes are refused, and the writer is then as before") func hostile() throws {
        let translation = try translation(
            "id:x,boxes:a(title:s,size:?(w:d,h:d)),state:[idle,printing(page:i,of:?i)],note:?s",
            "note:?s,boxes:a(size:?(h:d),label|title:s),state:[printing(of:?i),idle,failed],more:?x")
        let box = DBusValue.structure([
            .string("a"), .array(.structure([.double, .double]), [.structure([.double(1), .double(2)])]),
        ])
        let sound = try bytes([
            .int64(1), .array(box.type, [box, box]),
            .structure([.string("printing"), .variant(.structure([.int32(3), .array(.int32, [.int32(4)])]))]),
            .array(.string, [.string("n")]),
        ])
        #expect(throws: Never.self) { try translation.translate(sound) }
        var random = SeededGenerator(seed: 5)
        var refused = 0
        for round in 0..<TestForm.rounds(5_000, soak: 100_000) {
            var body = sound
            switch random.below(3) {
            case 0: body.removeLast(1 + random.below(body.count))
            case 1: body.append(0)
            default: body[random.below(body.count)] = UInt8(truncatingIfNeeded: random.next())
            }
            var writer = WireWriter()
            writer.uint64(7)
            let before = writer.bytes
            do throws(RelayError) {
                try body.withUnsafeBytes { bytes in
                    Result { () throws(RelayError) in
                        try translation.translate(bytes, into: &writer)
                    }
                }.get()
            } catch {
                refused += 1
                #expect(writer.bytes == before, "round \(round)")
                #expect(error.code == .invalidArgument || error.code == .schemaMismatch, "round \(round): \(error)")
            }
        }
        #expect(refused > TestForm.rounds(1_000, soak: 20_000), "\(refused)")
    }
    @Test("a small structure that becomes a large one is bounded") func amplification() throws {
        let optionals = (0..<110).map { "o\($0):?x" }.joined(separator: ",")
        let translation = try translation("a:a(b:y)", "a:a(b:y,\(optionals))")
        let many = [DBusValue](repeating: .structure([.byte(1)]), count: 200_000)
        let error = #expect(throws: RelayError.self) {
            try translation.translate(try bytes([.array(.structure([.byte]), many)]))
        }
        #expect(error?.code == .tooLarge)
    }
}
