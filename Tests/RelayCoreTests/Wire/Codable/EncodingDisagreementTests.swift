import TestTraits
import Testing

@testable import RelayCore

@Suite("A value that does not encode as its schema says", .tags(.g8)) struct EncodingDisagreementTests {
    /// Encodes as its schema says until told otherwise.
    struct Moody: Codable {
        enum Mood: Int32, Codable, CaseIterable {
            case well, missing, swapped, retyped, doubled, unknown, unkeyed, single, nothing, nested, inherits,
                swallowed, nilled, late
        }
        var mood: Mood
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
        enum CodingKeys: CodingKey { case mood, text, inner, other }
        init(_ mood: Mood) { (self.mood, text, inner) = (mood, "text", Inner()) }
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            mood = try container.decode(Mood.self, forKey: .mood)
            text = try container.decode(String.self, forKey: .text)
            inner = try container.decode(Inner.self, forKey: .inner)
        }
        func encode(to encoder: any Encoder) throws {
            if mood == .nothing { return }
            if mood == .unkeyed {
                var container = encoder.unkeyedContainer()
                for _ in 0..<9 { try container.encode(Int32(1)) }
                return
            }
            if mood == .single {
                var container = encoder.singleValueContainer()
                return try container.encode("alone")
            }
            var container = encoder.container(keyedBy: CodingKeys.self)
            if mood == .swapped { try container.encode(text, forKey: .text) }
            try container.encode(mood, forKey: .mood)
            switch mood {
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
            if mood == .unknown { try container.encode(text, forKey: .other) }
            try container.encode(inner, forKey: .inner)
        }
        /// Writes to its parent's container while it is itself being written.
        struct Late: Encodable {
            let write: () throws -> Void
            func encode(to encoder: any Encoder) throws { try write() }
        }
    }

    @Test("is InvalidArgument with the type, and leaves the writer as it was", arguments: Moody.Mood.allCases)
    func refused(_ mood: Moody.Mood) throws {
        // Registration encodes one sample, whose mood is the first case: the others show only here.
        let codec = try WireCodec(Moody.self)
        var writer = WireWriter()
        writer.uint32(1)
        if mood == .well {
            try codec.encode(Moody(mood), into: &writer)
            #expect(writer.count > 4)
            return
        }
        let error = #expect(throws: RelayError.self) { try codec.encode(Moody(mood), into: &writer) }
        #expect(error?.code == .invalidArgument)
        #expect(error?.message.contains("Moody") == true, "\(error?.message ?? "")")
        #expect(writer.bytes == [1, 0, 0, 0])
    }
    @Test("the codec goes on after a refusal") func goesOn() throws {
        let codec = try WireCodec(Moody.self)
        var (writer, clean) = (WireWriter(), WireWriter())
        #expect(throws: RelayError.self) { try codec.encode(Moody(.missing), into: &writer) }
        try codec.encode(Moody(.well), into: &writer)
        try codec.encode(Moody(.well), into: &clean)
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
        let back = try writer.withUnsafeBytes { try codec.decode($0, using: codec.map) }
        #expect(back == [Odd(rawValue: -4): true])
        #expect(throws: RelayError.self) { try codec.encode([Odd(rawValue: 9): true], into: &writer) }
    }
}
