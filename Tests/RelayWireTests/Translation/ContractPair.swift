import TestTraits

@testable import RelayWire

/// Two random versions of one contract: what a sender has, and what a receiver has.
struct ContractPair {
    private(set) var random: SeededGenerator
    private var names = 0
    let sender: [WireField]
    let receiver: [WireField]

    init(seed: UInt64) {
        var maker = Maker(random: SeededGenerator(seed: seed))
        // Deep ones are slow: some of them.
        let fields = maker.fields(depth: maker.random.chance(5) ? 3 : 2)
        // Either side may be the newer one. Few changes: else nearly each pair would be refused.
        maker.changesLeft = maker.random.below(5)
        let changed = maker.changed(fields)
        let isNewer = maker.random.chance(2)
        (sender, receiver) = isNewer ? (changed, fields) : (fields, changed)
        random = maker.random
    }

    /// A value of the sender's.
    mutating func value() -> [DBusValue] { sender.map { value($0.type) } }

    private mutating func value(_ type: WireType) -> DBusValue {
        switch type {
        case .bool: .boolean(random.chance(2))
        case .byte: .byte(UInt8(truncatingIfNeeded: random.next()))
        case .int16: .int16(Int16(truncatingIfNeeded: random.next()))
        case .int32: .int32(Int32(truncatingIfNeeded: random.next()))
        case .string: .string(["", "a", "größer", "12345678"][random.below(4)])
        case .array(.byte): .bytes((0..<random.below(4)).map { _ in UInt8(truncatingIfNeeded: random.next()) })
        case .optional(.byte): .bytes(random.chance(2) ? [] : [7])
        case .array(let element):
            .array(Self.dbus(element), (0..<random.below(3)).map { _ in value(element) })
        case .optional(let wrapped): .array(Self.dbus(wrapped), random.chance(2) ? [] : [value(wrapped)])
        case .dictionary(_, let element):
            .dictionary(
                Self.dbus(type),
                (0..<random.below(3)).map { DBusValue.Entry(key: .byte(UInt8($0)), value: value(element)) })
        case .structure(let fields): .structure(fields.map { value($0.type) })
        case .tagged(let variants): tagged(variants[random.below(variants.count)])
        default: .int64(Int64(bitPattern: random.next()))
        }
    }
    private mutating func tagged(_ variant: WireVariant) -> DBusValue {
        let fields = variant.fields.map { value($0.type) }
        return .structure([.string(variant.name), .variant(fields.isEmpty ? .byte(0) : .structure(fields))])
    }
    static func dbus(_ type: WireType) -> DBusType {
        switch type {
        case .bool: .boolean
        case .byte: .byte
        case .int16: .int16
        case .int32: .int32
        case .string: .string
        case .array(let element), .optional(let element): .array(dbus(element))
        case .dictionary(let key, let value): .dictionary(dbus(key), dbus(value))
        case .structure(let fields): .structure(fields.map { dbus($0.type) })
        case .tagged: .structure([.string, .variant])
        default: .int64
        }
    }

    private struct Maker {
        var random: SeededGenerator
        var names = 0
        var changesLeft = 0

        mutating func name() -> String {
            names += 1
            return "f\(names)"
        }
        mutating func fields(depth: Int) -> [WireField] {
            (0...random.below(depth == 0 ? 2 : 3)).map { _ in WireField(name: name(), type: type(depth: depth)) }
        }
        private mutating func type(depth: Int, canBeOptional: Bool = true) -> WireType {
            let basic: [WireType] = [.bool, .byte, .int16, .int32, .int64, .string]
            if depth == 0 || random.chance(3) { return basic[random.below(basic.count)] }
            switch random.below(canBeOptional ? 7 : 5) {
            case 0: return .array(type(depth: depth - 1))
            case 1: return .dictionary(.byte, type(depth: depth - 1))
            case 2, 3: return .structure(fields(depth: depth - 1))
            case 4: return .tagged((0...random.below(3)).map { _ in variant(depth: depth - 1) })
            default: return .optional(type(depth: depth - 1, canBeOptional: false))
            }
        }
        private mutating func variant(depth: Int) -> WireVariant {
            WireVariant(
                name: name(),
                fields: (0..<random.below(3)).map { _ in
                    WireField(name: name(), type: type(depth: depth))
                })
        }

        // MARK: Changes

        private mutating func changes() -> Bool {
            if changesLeft == 0 || !random.chance(3) { return false }
            changesLeft -= 1
            return true
        }
        mutating func changed(_ fields: [WireField], mayBeEmpty: Bool = false) -> [WireField] {
            var result: [WireField] = []
            for field in fields {
                guard changes() else {
                    result.append(renamed(field, field.name, []))
                    continue
                }
                switch random.below(7) {
                case 0: continue
                case 1: result.append(WireField(name: field.name, type: type(depth: 1)))
                // With and without its former name; at times under a name that another one had.
                case 2, 3: result.append(renamed(field, name(), random.chance(4) ? [] : [field.name, name()]))
                case 4: result.append(renamed(field, name(), [fields[random.below(fields.count)].name]))
                default:
                    let added = random.chance(3) ? type(depth: 1) : .optional(type(depth: 1, canBeOptional: false))
                    result.append(WireField(name: random.chance(4) ? "again" : name(), type: added))
                    result.append(renamed(field, field.name, []))
                }
            }
            if changes() { result.shuffle(using: &random) }
            if result.isEmpty && !mayBeEmpty { result.append(WireField(name: name(), type: .optional(.string))) }
            var seen: Set<String> = []
            return result.filter { seen.insert($0.name).inserted }
        }
        private mutating func renamed(_ field: WireField, _ name: String, _ formerNames: [String]) -> WireField {
            WireField(name: name, type: changed(field.type), formerNames: formerNames)
        }
        private mutating func changed(_ type: WireType) -> WireType {
            switch type {
            case .array(let element): return .array(changed(element))
            case .optional(let wrapped): return .optional(changed(wrapped))
            case .dictionary(let key, let value): return .dictionary(key, changed(value))
            case .structure(let fields): return .structure(changed(fields))
            case .tagged(let variants): return changed(variants)
            default: return type
            }
        }
        private mutating func changed(_ variants: [WireVariant]) -> WireType {
            let isOpen = random.chance(4)
            var result: [WireVariant] = []
            for variant in variants {
                if changes(), variants.count > 1 {
                    if random.chance(2) { continue }
                    result.append(self.variant(depth: 1))
                }
                result.append(
                    WireVariant(
                        name: variant.name, fields: changed(variant.fields, mayBeEmpty: true), isOpen: isOpen))
            }
            if result.isEmpty { result = [variant(depth: 0)] }
            if changes() { result.shuffle(using: &random) }
            return .tagged(result.map { WireVariant(name: $0.name, fields: $0.fields, isOpen: isOpen) })
        }
    }
}
