import Testing

@testable import RelayWire

@Suite("The hash of a command's arguments") struct ArgumentHashTests {
    private func hash<T: Codable>(_ value: T) throws -> Int64 { try whole(value).present }
    private func whole<T: Codable>(_ value: T) throws -> ArgumentHash.Value {
        let codec = try WireCodec(T.self)
        var writer = WireWriter()
        try codec.encode(value, into: &writer)
        return try ArgumentHash(codec.schema.fields).value(writer.takeBytes())
    }
    private struct Move: Codable { var from: Int64, to: Int64 }
    private struct Turned: Codable { var to: Int64, from: Int64 }
    private struct Longer: Codable {
        var speed: Double?
        var to: Int64
        var boxes: [Box]?
        var from: Int64
    }
    private struct Box: Codable, Hashable {
        var title: String
        var size: Int32?
    }
    private struct LaterBox: Codable, Hashable {
        var weight: Double?
        var size: Int32?
        var title: String
    }
    private struct Boxes: Codable { var boxes: [Box], byName: [String: Box] }
    private struct LaterBoxes: Codable {
        var byName: [String: LaterBox], boxes: [LaterBox]
        var count: UInt8?
    }
    private struct Sets: Codable { var numbers: Set<Int64>, names: Set<String>, byName: [String: [Int32]] }
    private struct Lists: Codable { var numbers: [Int64] }
    private struct Texts: Codable { var a: String, b: String }
    private struct Optionals: Codable { var numbers: [Int32?] }

    @Test("counts names and values: not the order of fields, and not what is nil") func names() throws {
        let move = try hash(Move(from: 1, to: 2))
        #expect(try move == hash(Turned(to: 2, from: 1)))
        #expect(try move == hash(Longer(speed: nil, to: 2, boxes: nil, from: 1)))
        #expect(try move != hash(Longer(speed: 1, to: 2, boxes: nil, from: 1)))
        #expect(try move != hash(Longer(speed: nil, to: 2, boxes: [], from: 1)))
        #expect(try move != hash(Turned(to: 1, from: 2)))
    }
    @Test("values that are exchanged between two fields are others") func exchanged() throws {
        for a in Int64(0)...40 {
            for b in (a + 1)...41 { #expect(try hash(Move(from: a, to: b)) != hash(Move(from: b, to: a))) }
        }
    }
    @Test("does so in nested structures, in arrays and in dictionaries") func nested() throws {
        let box = Box(title: "a", size: nil)
        let later = LaterBox(weight: nil, size: nil, title: "a")
        let boxes = try hash(Boxes(boxes: [box], byName: ["x": box]))
        #expect(try boxes == hash(LaterBoxes(byName: ["x": later], boxes: [later], count: nil)))
        let heavy = LaterBox(weight: 1, size: nil, title: "a")
        #expect(try boxes != hash(LaterBoxes(byName: ["x": later], boxes: [heavy], count: nil)))
        #expect(try boxes != hash(LaterBoxes(byName: ["x": heavy], boxes: [later], count: nil)))
        #expect(try boxes != hash(Boxes(boxes: [box, box], byName: ["x": box])))
        #expect(try boxes != hash(Boxes(boxes: [], byName: ["x": box])))
    }
    @Test("sets and dictionaries have no order, arrays have one") func order() throws {
        let names = (0..<50).map { "name \($0)" }
        let forward = Sets(
            numbers: Set(0..<50), names: Set(names),
            byName: Dictionary(uniqueKeysWithValues: names.map { ($0, [Int32($0.count)]) }))
        let backward = Sets(
            numbers: Set((0..<50).reversed()), names: Set(names.reversed()),
            byName: Dictionary(uniqueKeysWithValues: names.reversed().map { ($0, [Int32($0.count)]) }))
        #expect(try hash(forward) == hash(backward))
        var other = forward
        other.names.remove("name 1")
        #expect(try hash(forward) != hash(other))
        #expect(try hash(Lists(numbers: [1, 2])) != hash(Lists(numbers: [2, 1])))
        #expect(try hash(Lists(numbers: [])) != hash(Lists(numbers: [0])))
    }
    @Test("no value's end is another one's beginning") func ends() throws {
        #expect(try hash(Texts(a: "ab", b: "c")) != hash(Texts(a: "a", b: "bc")))
        #expect(try hash(Texts(a: "", b: "a")) != hash(Texts(a: "a", b: "")))
        #expect(try hash(Optionals(numbers: [nil, 1])) != hash(Optionals(numbers: [1, nil])))
        #expect(try hash(Optionals(numbers: [nil])) != hash(Optionals(numbers: [])))
    }
    @Test("is the same in each process") func stable() throws {
        #expect(try hash(Move(from: 1, to: 2)) == 8_182_040_881_374_981_785)
    }
}
