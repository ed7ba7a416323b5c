import TestTraits
import Testing

@testable import RelayWire

/// Makes random types and values, with a taste for edges.
struct Generator {
    var random: SeededGenerator
    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    // MARK: Types

    /// Random types of a body, whose signature fits.
    mutating func signature(depth: Int = 4) -> Signature {
        while true {
            let count = 1 + random.below(4)
            let types = (0..<count).map { _ in type(depth: depth) }
            if let signature = try? Signature(types: types) { return signature }
        }
    }
    private mutating func type(depth: Int) -> DBusType {
        let basic: [DBusType] = [
            .byte, .boolean, .int16, .uint16, .int32, .uint32, .int64, .uint64, .double, .string, .objectPath,
            .signature,
        ]
        if depth == 0 || random.chance(3) { return basic[random.below(basic.count)] }
        return switch random.below(6) {
        case 0: .variant
        case 1, 2: .array(type(depth: depth - 1))
        case 3: .dictionary(basic[random.below(basic.count)], type(depth: depth - 1))
        default: .structure((0...random.below(4)).map { _ in type(depth: depth - 1) })
        }
    }
    /// Random fields, as a schema has them.
    mutating func fields(depth: Int = 4) -> [WireField] {
        while true {
            let fields = (0...random.below(4)).map { WireField(name: "f\($0)", type: wireType(depth: depth)) }
            if (try? WireSchema(fields: fields)) != nil { return fields }
        }
    }
    private mutating func wireType(depth: Int, canBeOptional: Bool = true) -> WireType {
        let basic: [WireType] = [
            .bool, .byte, .int16, .uint16, .int32, .uint32, .int64, .uint64, .double, .string,
        ]
        if depth == 0 || random.chance(3) { return basic[random.below(basic.count)] }
        switch random.below(canBeOptional ? 7 : 6) {
        case 0, 1: return .array(wireType(depth: depth - 1))
        case 5:
            return .tagged(
                (0...random.below(3)).map { index in
                    WireVariant(
                        name: "c\(index)",
                        fields: (0..<random.below(3)).map {
                            WireField(name: "_\($0)", type: wireType(depth: depth - 1))
                        })
                })
        case 2: return .dictionary(basic[random.below(basic.count)], wireType(depth: depth - 1))
        case 6: return .optional(wireType(depth: depth - 1, canBeOptional: false))
        default:
            return .structure(
                (0...random.below(4)).map { WireField(name: "m\($0)", type: wireType(depth: depth - 1)) })
        }
    }

    // MARK: Values

    mutating func values(_ types: [DBusType]) -> [DBusValue] { types.map { value($0, depth: 0) } }

    mutating func value(_ type: DBusType, depth: Int) -> DBusValue {
        switch type {
        case .byte: .byte(number())
        case .boolean: .boolean(random.chance(2))
        case .int16: .int16(number())
        case .uint16: .uint16(number())
        case .int32: .int32(number())
        case .uint32: .uint32(number())
        case .int64: .int64(number())
        case .uint64: .uint64(number())
        case .double: .double(double())
        case .string: .string(text())
        case .objectPath: .objectPath(["/", "/a", "/org/eventrelay/Relocation1", "/_/0"][random.below(4)])
        case .signature: .signature(random.chance(3) ? .empty : signature(depth: 2))
        case .unixFD: .unixFD(0)
        case .variant: variant(depth: depth)
        case .array(.byte): .bytes((0..<count(depth)).map { _ in number() })
        case .array(let element): .array(element, (0..<count(depth)).map { _ in value(element, depth: depth + 1) })
        case .dictionary(let key, let value):
            .dictionary(
                type,
                (0..<count(depth)).map { _ in
                    DBusValue.Entry(key: self.value(key, depth: depth), value: self.value(value, depth: depth + 1))
                })
        case .structure(let fields): .structure(fields.map { value($0, depth: depth + 1) })
        }
    }
    private mutating func variant(depth: Int) -> DBusValue {
        let type = type(depth: max(0, 2 - depth))
        return .variant(value(type, depth: depth + 1))
    }
    /// Values of a schema's fields: as above, with at most one element in an optional, and dictionary keys once each.
    mutating func values(_ fields: [WireField]) throws -> [DBusValue] { try fields.map { try value($0.type) } }

    private mutating func value(_ type: WireType, depth: Int = 0) throws -> DBusValue {
        let dbus = try #require(try Signature(type.signature).types.first)
        switch type {
        case .array(.byte): return value(dbus, depth: depth)
        case .array(let element):
            return .array(try element.dbus, try (0..<count(depth)).map { _ in try value(element, depth: depth + 1) })
        case .optional(let wrapped):
            if wrapped == .byte { return .bytes(random.chance(2) ? [] : [number()]) }
            return .array(
                try wrapped.dbus, try (0..<random.below(2)).map { _ in try value(wrapped, depth: depth + 1) })
        case .dictionary(let key, let element):
            var keys: Set<DBusValue> = []
            var entries: [DBusValue.Entry] = []
            for _ in 0..<count(depth) {
                let key = try value(key, depth: depth)
                if case .double(let number) = key, number.isNaN { continue }
                guard keys.insert(key).inserted else { continue }
                entries.append(DBusValue.Entry(key: key, value: try value(element, depth: depth + 1)))
            }
            return .dictionary(dbus, entries)
        case .structure(let fields): return .structure(try fields.map { try value($0.type, depth: depth + 1) })
        case .tagged(let variants):
            let variant = variants[random.below(variants.count)]
            let payload = try variant.fields.map { try value($0.type, depth: depth + 1) }
            return .structure([.string(variant.name), .variant(payload.isEmpty ? .byte(0) : .structure(payload))])
        default: return value(dbus, depth: depth)
        }
    }

    private mutating func count(_ depth: Int) -> Int { random.chance(3) ? 0 : random.below(max(2, 5 - depth)) }

    private mutating func number<I: FixedWidthInteger>() -> I {
        switch random.below(5) {
        case 0: I.min
        case 1: I.max
        case 2: 0
        default: I(truncatingIfNeeded: random.next())
        }
    }
    private mutating func double() -> Double {
        let edges: [Double] = [
            0, -0.0, .infinity, -.infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 1.5,
        ]
        return edges[random.below(edges.count)]
    }
    private mutating func text() -> String {
        let edges = [
            "", "a", "Kitchen", "größer", "箱", "🗄️",
            "\u{7F}\u{80}\u{7FF}\u{800}\u{FFFD}\u{FFFE}\u{FFFF}\u{10000}\u{10FFFF}",
            "\u{1}\n\t\"<&>", "1234567", "12345678", String(repeating: "long ", count: 20),
        ]
        return edges[random.below(edges.count)]
    }
}

extension WireType {
    var dbus: DBusType {
        get throws { try #require(try Signature(signature).types.first) }
    }
}
