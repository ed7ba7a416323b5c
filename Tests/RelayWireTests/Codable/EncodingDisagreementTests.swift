import TestTraits
import Testing

@testable import RelayWire

@Suite("A value that does not encode as its schema says", .tags(.g8)) struct EncodingDisagreementTests {
    /// Encodes as its schema says until told otherwise.
    struct Misencoded: Codable {
        enum Form: Int32, Codable, CaseIterable {
            case well, missing, swapped, retyped, doubled, unknown, unkeyed, single, nothing, nested, inherits,
                swallowed, nilled, late
        }
        var form: Form
        var text: String
        var inner: Inner

        struct Inner: Codable {
            var fails = false, label = "inner"
            enum CodingKeys: CodingKey { case label }
            init(fails: Bool = false) { self.fails = fails }
            init(from decoder: any Decoder) throws {
                label = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .label)
            }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(fails ? "a\0" : label, forKey: .label)
            }
        }
        enum CodingKeys: CodingKey { case form, text, inner, other }
        init(_ form: Form) { (self.form, text, inner) = (form, "text", Inner()) }
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            form = try container.decode(Form.self, forKey: .form)
            text = try container.decode(String.self, forKey: .text)
            inner = try container.decode(Inner.self, forKey: .inner)
        }
        func encode(to encoder: any Encoder) throws {
            if form == .nothing { return }
            if form == .unkeyed {
                var container = encoder.unkeyedContainer()
                for _ in 0..<9 { try container.encode(Int32(1)) }
                return
            }
            if form == .single {
                var container = encoder.singleValueContainer()
                return try container.encode("alone")
            }
            var container = encoder.container(keyedBy: CodingKeys.self)
            if form == .swapped { try container.encode(text, forKey: .text) }
            try container.encode(form, forKey: .form)
            switch form {
            case .missing, .swapped: break
            case .retyped: try container.encode(5, forKey: .text)
            case .nilled: try container.encodeNil(forKey: .text)
            case .doubled:
                try container.encode(text, forKey: .text)
                try container.encode(text, forKey: .text)
            case .nested:
                var nested = container.nestedContainer(keyedBy: CodingKeys.self, forKey: .text)
                try nested.encode("nested", forKey: .text)
            case .inherits: try text.encode(to: container.superEncoder())
            case .swallowed:
                try container.encode(text, forKey: .text)
                try? container.encode(Inner(fails: true), forKey: .inner)
                return
            case .late:
                try container.encode(text, forKey: .text)
                let copy = container
                let late = Late {
                    var again = copy
                    try again.encode("late", forKey: .text)
                }
                try container.encode(late, forKey: .inner)
                return
            default: try container.encode(text, forKey: .text)
            }
            if form == .unknown { try container.encode(text, forKey: .other) }
            try container.encode(inner, forKey: .inner)
        }
        /// Writes to its parent's container while it is itself being written.
        struct Late: Encodable {
            let write: () throws -> Void
            func encode(to encoder: any Encoder) throws { try write() }
        }
    }

    @Test("is InvalidArgument with the type, and leaves the writer as it was", arguments: Misencoded.Form.allCases)
    func refused(_ form: Misencoded.Form) throws {
        // Registration encodes one sample, whose form is the first case: the others show only here.
        let codec = try WireCodec(Misencoded.self)
        var writer = WireWriter()
        writer.uint32(1)
        if form == .well {
            try codec.encode(Misencoded(form), into: &writer)
            #expect(writer.count > 4)
            return
        }
        let error = #expect(throws: RelayError.self) { try codec.encode(Misencoded(form), into: &writer) }
        #expect(error?.code == .invalidArgument)
        #expect(error?.message.contains("Misencoded") == true, "\(error?.message ?? "")")
        #expect(writer.bytes == [1, 0, 0, 0])
    }
    @Test("the codec goes on after a refusal") func goesOn() throws {
        let codec = try WireCodec(Misencoded.self)
        var (writer, clean) = (WireWriter(), WireWriter())
        #expect(throws: RelayError.self) { try codec.encode(Misencoded(.missing), into: &writer) }
        try codec.encode(Misencoded(.well), into: &writer)
        try codec.encode(Misencoded(.well), into: &clean)
        #expect(writer.bytes == clean.bytes)
    }
    @Test("a dictionary's keys that do not fit their type are refused") func keys() throws {
        struct Odd: Codable, Hashable, CodingKeyRepresentable, RawRepresentable {
            var rawValue: Int16
            init(rawValue: Int16) { self.rawValue = rawValue }
            init?<T: CodingKey>(codingKey: T) { self.init(rawValue: Int16(codingKey.stringValue) ?? 0) }
            struct Key: CodingKey {
                var stringValue: String
                var intValue: Int? { nil }
                init?(intValue: Int) { nil }
                init(stringValue: String) { self.stringValue = stringValue }
            }
            var codingKey: any CodingKey { Key(stringValue: rawValue == 9 ? "nine" : "\(rawValue)") }
        }
        let codec = try WireCodec([Odd: Bool].self)
        #expect(codec.schema.signature == "a{nb}")
        var writer = WireWriter()
        try codec.encode([Odd(rawValue: -4): true], into: &writer)
        let back = try writer.withUnsafeBytes { try codec.decode($0) }
        #expect(back == [Odd(rawValue: -4): true])
        #expect(throws: RelayError.self) { try codec.encode([Odd(rawValue: 9): true], into: &writer) }
    }
}
