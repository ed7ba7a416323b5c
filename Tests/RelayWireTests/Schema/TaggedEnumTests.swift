import TestTraits
import Testing
import WireSupport

@testable import RelayWire

@Suite("Enums with payloads", .tags(.g8)) struct TaggedEnumTests {
    struct Reason: Codable, Equatable { var code: Int32, text: String? }
    enum JobState: TaggedEnum, Equatable {
        case idle
        case printing(page: Int32, of: Int32?)
        case failed(Reason)
        case moved(String, to: String)
    }
    indirect enum Deep: TaggedEnum, Equatable { case leaf(JobState), list([JobState]), byName([String: JobState?]) }
    enum Single: TaggedEnum, Equatable { case only(Int64) }
    enum SinglePlain: TaggedEnum, Equatable { case only }
    enum Box<Item: Codable & Sendable & Equatable>: TaggedEnum, Equatable { case empty, full(Item), many([Item]) }
    enum Renamed: TaggedEnum, Equatable {
        case first(value: Int16), second
        enum CodingKeys: String, CodingKey { case second = "other", first = "One" }
        enum FirstCodingKeys: String, CodingKey { case value = "amount" }
    }
    enum Validated: TaggedEnum, Equatable { case id(ItemTag), plate(Plate), both(ItemTag, Plate) }
    struct Job: WireTestEvent, Equatable {
        var id: Int64, state: JobState, last: JobState?, history: [JobState], byName: [String: JobState], deep: Deep
    }
    static let states: [JobState] = [
        .idle, .printing(page: 3, of: nil), .printing(page: 3, of: 4), .failed(Reason(code: 7, text: "paper")),
        .moved("a", to: "b"),
    ]

    private func bytes<Value: Codable>(_ value: Value) throws -> [UInt8] {
        var writer = WireWriter()
        try WireCodec(Value.self).encode(value, into: &writer)
        return writer.bytes
    }
    private func returned<Value: Codable>(_ value: Value) throws -> Value {
        let codec = try WireCodec(Value.self)
        return try bytes(value).withUnsafeBytes { bytes in Result { try codec.decode(bytes) } }.get()
    }
    private func shape<Value: Codable>(of type: Value.Type) throws -> String {
        try WireSchema(of: type).fields.map(\.description).joined(separator: " ")
    }

    @Test("need no declaration: cases and the fields of payloads are found") func shapes() throws {
        let state = "[idle,printing(page:i,of:?i),failed(_0:(code:i,text:?s)),moved(_0:s,to:s)]"
        #expect(try shape(of: JobState.self) == "value:" + state)
        #expect(
            try WireSchema(event: Job.self).fields.map(\.description) == [
                "id:x", "state:" + state, "last:?" + state, "history:a" + state, "byName:a{s\(state)}",
                "deep:[leaf(_0:\(state)),list(_0:a\(state)),byName(_0:a{s?\(state)})]",
            ])
        #expect(try WireSchema(event: Job.self).signature == "x(sv)a(sv)a(sv)a{s(sv)}(sv)")
        #expect(try shape(of: Single.self) == "value:[only(_0:x)]")
        #expect(try shape(of: SinglePlain.self) == "value:[only]")
        #expect(try shape(of: Box<String>.self) == "value:[empty,full(_0:s),many(_0:as)]")
        #expect(try shape(of: Box<Box<UInt8>>.self).contains("full(_0:[empty,full(_0:y),many(_0:ay)])"))
        #expect(try shape(of: Validated.self) == "value:[id(_0:s),plate(_0:s),both(_0:s,_1:s)]")
    }
    @Test("coding keys that a user renames are the names on the wire") func renamed() throws {
        #expect(try shape(of: Renamed.self) == "value:[other,One(amount:n)]")
        for value in [Renamed.first(value: -2), .second] { #expect(try returned(value) == value) }
    }
    @Test("an enum of 300 cases has all of them") func many() throws {
        let variants = try Mirrored.of(Many.self)
        #expect(variants.count == 300)
        #expect(variants.first?.description == "c0(_0:i)" && variants.last?.description == "c299(_0:i)")
        for value in [Many.c0(1), .c255(2), .c256(3), .c299(4)] { #expect(try returned(value) == value) }
    }
    @Test("of 256 cases, and of 257") func edges() throws {
        #expect(try EnumKeys.all(Keys256.self).map(\.stringValue) == (0..<256).map { "k\($0)" })
        #expect(try EnumKeys.all(Keys257.self).map(\.stringValue) == (0..<257).map { "k\($0)" })
    }
    private enum Mirrored {
        static func of<Value: Codable>(_ type: Value.Type) throws -> [WireVariant] {
            guard case .tagged(let variants)? = try WireSchema(of: type).fields.first?.type else { return [] }
            return variants
        }
    }
    @Test("come back as they were, wherever they are nested") func roundTrip() throws {
        for state in Self.states {
            let job = Job(
                id: 1, state: state, last: state, history: Self.states, byName: ["a": state, "b": .idle],
                deep: .byName(["x": state, "y": nil]))
            #expect(try returned(job) == job)
            #expect(try returned(Deep.leaf(state)) == .leaf(state))
        }
        #expect(try returned(Deep.list(Self.states)) == .list(Self.states))
        #expect(try returned([JobState?.none, .idle, .some(.moved("a", to: "b"))]).count == 3)
        for value in [Box.empty, .full("x"), .many(["a", "b"])] { #expect(try returned(value) == value) }
        #expect(try returned(Single.only(5)) == .only(5))
        #expect(try returned(SinglePlain.only) == .only)
    }
    @Test("travel as the case's name and a structure of the payload; as a byte 0 without one") func wire() throws {
        func values(_ state: JobState) throws -> [DBusValue] {
            try DBusValue.decode(signature: try Signature("(sv)"), body: try bytes(state))
        }
        #expect(try values(.idle) == [.structure([.string("idle"), .variant(.byte(0))])])
        #expect(
            try values(.printing(page: 3, of: 4)) == [
                .structure([.string("printing"), .variant(.structure([.int32(3), .array(.int32, [.int32(4)])]))])
            ])
    }
    @Test("a case without a payload is read with any integer") func integers() throws {
        let codec = try WireCodec(JobState.self)
        for number: DBusValue in [.byte(0), .int32(0), .int64(-1), .uint16(9)] {
            var writer = WireWriter()
            try DBusValue.encode([.structure([.string("idle"), .variant(number)])], into: &writer)
            #expect(try writer.withUnsafeBytes { try codec.decode($0) } == .idle)
        }
        for other: DBusValue in [.string(""), .structure([.byte(0)]), .variant(.byte(0)), .boolean(false)] {
            var writer = WireWriter()
            try DBusValue.encode([.structure([.string("idle"), .variant(other)])], into: &writer)
            let error = #expect(throws: RelayError.self) { try writer.withUnsafeBytes { try codec.decode($0) } }
            #expect(error?.code == .invalidArgument && error?.message.contains("'idle'") == true)
        }
    }
    @Test("a payload of another type is refused with both signatures") func payload() throws {
        let codec = try WireCodec(JobState.self)
        var writer = WireWriter()
        try DBusValue.encode([.structure([.string("printing"), .variant(.structure([.int64(3)]))])], into: &writer)
        let error = #expect(throws: RelayError.self) { try writer.withUnsafeBytes { try codec.decode($0) } }
        for part in ["'printing'", "'(x)'", "'(iai)'"] { #expect(error?.message.contains(part) == true) }
    }

    // MARK: Unknown cases

    enum Newer: TaggedEnum { case idle, scanning(tray: Int32, name: String), plain }
    enum Open: OpenTaggedEnum, Equatable { case idle, unknown(UnknownCase) }
    enum Folded: OpenTaggedEnum, Equatable {
        case idle, other
        static func unknown(_ value: UnknownCase) -> Self { .other }
    }
    struct Held<State: Codable & Equatable>: Codable, Equatable {
        var state: State, optional: State?, list: [State], after: Int64
    }
    struct Sent: Codable { var state: Newer, optional: Newer?, list: [Newer], after: Int64 }

    private func read<State: TaggedEnum & Equatable>(_ type: State.Type, _ newer: Newer) throws -> Held<State> {
        let (theirs, ours) = (try WireCodec(Sent.self), try WireCodec(Held<State>.self))
        var writer = WireWriter()
        try theirs.encode(Sent(state: newer, optional: newer, list: [.idle, newer], after: 9), into: &writer)
        let translation = try WireTranslation(
            from: theirs.schema.fields, to: ours.schema.fields, .reading, of: "Held")
        return try writer.withUnsafeBytes { try ours.decode($0, by: translation) }
    }
    @Test("a case that only the sender has is a mismatch of its value, with the case's name") func closed() throws {
        enum Closed: TaggedEnum, Equatable { case idle }
        #expect(try read(Closed.self, .idle).after == 9)
        let error = #expect(throws: RelayError.self) { try read(Closed.self, .plain) }
        #expect(error?.code == .schemaMismatch && error?.message.contains("'plain'") == true)
        // Bytes from nowhere, without a schema: the same.
        let codec = try WireCodec(Closed.self)
        let direct = #expect(throws: RelayError.self) {
            try bytes(Newer.plain).withUnsafeBytes { bytes in Result { try codec.decode(bytes) } }.get()
        }
        #expect(direct?.code == .schemaMismatch && direct?.message.contains("'plain'") == true)
    }
    @Test("an open enum reads it as its own unknown case, with the payload as text") func open() throws {
        #expect(try shape(of: Open.self) == "value:[idle]")
        let value = try read(Open.self, .scanning(tray: 3, name: "A\n4"))
        #expect(value.optional == value.state && value.list == [.idle, value.state] && value.after == 9)
        guard case .unknown(let unknown) = value.state else {
            Issue.record("\(value.state)")
            return
        }
        #expect(unknown.name == "scanning" && unknown.payload.hasPrefix("(3, \"A"))
        // A control character never reaches a log as it is.
        #expect(!unknown.description.contains("\n") && unknown.description.hasPrefix("scanning(3"))
        #expect(try read(Open.self, .plain).state == .unknown(UnknownCase(name: "plain", payload: "")))
        #expect(try read(Folded.self, .plain).list == [.idle, .other])
        #expect(try read(Open.self, .idle).list == [.idle, .idle])
    }
    @Test("an unknown case is never sent") func unsendable() throws {
        let codec = try WireCodec(Open.self)
        var writer = WireWriter()
        let error = #expect(throws: RelayError.self) {
            try codec.encode(.unknown(UnknownCase(name: "x", payload: "")), into: &writer)
        }
        #expect(error?.code == .invalidArgument && error?.message.contains("'unknown'") == true)
        #expect(writer.count == 0)
    }

    // MARK: Refusals

    enum Plain: Codable { case a, b(Int) }
    struct HandMade: Codable, Sendable, TaggedEnum {
        var a: Int
    }
    indirect enum Tree: TaggedEnum { case leaf, node([Tree]) }
    enum Umlaut: TaggedEnum { case größe(Int) }
    enum Stray: TaggedEnum { case a, unknown(UnknownCase) }
    enum Hollow: TaggedEnum { case a(Nothing) }
    struct Nothing: Codable {}
    enum FormerNames: TaggedEnum, RenamedFields {
        case a(Int)
        static let formerNames = ["b": "a"]
    }
    @Test("what cannot be one is refused with what to do instead") func refused() throws {
        func refusal<Value: Codable>(_ type: Value.Type) -> String {
            let error = #expect(throws: RelayError.self) { try WireCodec(Value.self) }
            #expect(error?.code == .unsupportedType)
            return error?.message ?? "accepted"
        }
        #expect(refusal(Plain.self).contains("conform it to TaggedEnum"))
        #expect(refusal(HandMade.self).contains("init(from:) that Swift writes"))
        #expect(refusal(Tree.self).contains("contains itself"))
        #expect(refusal(Umlaut.self).contains("not a D-Bus name"))
        #expect(refusal(Stray.self).contains("OpenTaggedEnum"))
        #expect(refusal(Hollow.self).contains("no fields"))
        #expect(refusal(FormerNames.self).contains("no such field"))
        struct Fixed: FixedLayoutEvent {
            typealias Interface = WireTest1
            enum Level: TaggedEnum, BitwiseCopyable { case low, high(UInt8) }
            var level: Level
        }
        let error = #expect(throws: RelayError.self) { try WireSchema(event: Fixed.self) }
        #expect(error?.message.contains("is an enum") == true)
    }
    @Test("a container that outlives its value, or is asked twice, is refused") func odd() throws {
        struct Odd: TaggedEnum {
            init() {}
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: Key.self)
                let key = container.allKeys[0]
                _ = try container.nestedContainer(keyedBy: Key.self, forKey: key)
                _ = try container.nestedContainer(keyedBy: Key.self, forKey: key)
            }
            func encode(to encoder: any Encoder) throws {}
            enum Key: CodingKey { case a, b }
        }
        #expect(throws: RelayError.self) { try WireSchema(of: Odd.self) }
    }
    @Test("broken bytes are refused, and the next value comes back") func hostile() throws {
        let codec = try WireCodec(Job.self)
        let job = Job(
            id: 1, state: Self.states[3], last: .idle, history: Self.states, byName: [:], deep: .list(Self.states))
        let sound = try bytes(job)
        var mutator = BodyMutator(seed: 9)
        var refused = 0
        for round in 0..<TestForm.rounds(2_000, soak: 50_000) {
            let broken = mutator.mutated(sound)
            do { _ = try broken.withUnsafeBytes { try codec.decode($0) } } catch {
                refused += 1
                let code = (error as? RelayError)?.code
                #expect(code == .invalidArgument || code == .schemaMismatch, "round \(round): \(error)")
            }
            #expect(try sound.withUnsafeBytes { try codec.decode($0) } == job, "round \(round)")
        }
        #expect(refused > TestForm.rounds(200, soak: 5_000), "\(refused)")
    }
}
