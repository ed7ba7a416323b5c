/// A type that D-Bus can carry.
package indirect enum WireType: Hashable, Sendable {
    case bool, byte, int16, uint16, int32, uint32, int64, uint64, double, string
    /// A file descriptor: the message has its index.
    case descriptor
    case array(WireType)
    case dictionary(WireType, WireType)
    case structure([WireField])
    /// Travels as an array of 0 or 1.
    case optional(WireType)
    /// An enum with payloads. Travels as `(sv)`: the case's name, and the structure of its payload's fields.
    case tagged([WireVariant])

    /// As D-Bus spells it; without the names of nested fields, and without optionality.
    package var signature: String {
        switch self {
        case .array(let element), .optional(let element): "a" + element.signature
        case .dictionary(let key, let value): "a{" + key.signature + value.signature + "}"
        case .structure(let fields): "(" + fields.signature + ")"
        case .tagged: "(sv)"
        default: shape
        }
    }
    /// As `org.eventrelay.Fields` spells it: the signature, with `?` for optionals, with names in structures and with
    /// the cases of enums.
    ///
    /// `a(boxID:x,items:as)` is an array of structures, `?d` an optional double, `a{s?x}` a dictionary,
    /// `[idle,printing(page:i)]` an enum with payloads.
    package var shape: String { text(withFormerNames: false) }
    /// The shape, with the former names of fields: `(title|label:s)`.
    package var contractText: String { text(withFormerNames: true) }

    func text(withFormerNames: Bool) -> String {
        switch self {
        case .bool: "b"
        case .byte: "y"
        case .int16: "n"
        case .uint16: "q"
        case .int32: "i"
        case .uint32: "u"
        case .int64: "x"
        case .uint64: "t"
        case .double: "d"
        case .string: "s"
        case .descriptor: "h"
        case .array(let element): "a" + element.text(withFormerNames: withFormerNames)
        case .optional(let wrapped): "?" + wrapped.text(withFormerNames: withFormerNames)
        case .dictionary(let key, let value): "a{" + key.shape + value.text(withFormerNames: withFormerNames) + "}"
        case .structure(let fields): Self.text(fields, withFormerNames: withFormerNames)
        case .tagged(let variants):
            "[" + variants.map { $0.text(withFormerNames: withFormerNames) }.joined(separator: ",") + "]"
        }
    }
    static func text(_ fields: [WireField], withFormerNames: Bool) -> String {
        "(" + fields.map { $0.text(withFormerNames: withFormerNames) }.joined(separator: ",") + ")"
    }
    package var isBasic: Bool {
        switch self {
        case .array, .dictionary, .structure, .optional, .tagged: false
        default: true
        }
    }
    /// Whether there is a file descriptor in it, however deep.
    package var hasDescriptors: Bool {
        switch self {
        case .descriptor: true
        case .array(let inner), .optional(let inner): inner.hasDescriptors
        case .dictionary(let key, let value): key.hasDescriptors || value.hasDescriptors
        case .structure(let fields): fields.contains { $0.type.hasDescriptors }
        case .tagged(let variants): variants.contains { $0.fields.contains { $0.type.hasDescriptors } }
        default: false
        }
    }
    /// Whether there is a dictionary in it, however deep: its elements are encoded in an order of the process.
    package var hasDictionaries: Bool {
        switch self {
        case .dictionary: true
        case .array(let inner), .optional(let inner): inner.hasDictionaries
        case .structure(let fields): fields.contains { $0.type.hasDictionaries }
        case .tagged(let variants): variants.contains { $0.fields.contains { $0.type.hasDictionaries } }
        default: false
        }
    }
    /// Containers within each other, as libdbus counts them: arrays and structures of one signature, and all: a
    /// dictionary's entry is one of its own, and so is a variant, in which another signature begins.
    var depth: (arrays: Int, structures: Int, all: Int) {
        switch self {
        case .array(let inner), .optional(let inner):
            let depth = inner.depth
            return (depth.arrays + 1, depth.structures, depth.all + 1)
        case .dictionary(_, let value):
            let depth = value.depth
            return (depth.arrays + 1, depth.structures, depth.all + 2)
        case .structure(let fields):
            return fields.map(\.type.depth).reduce((0, 1, 1)) {
                (max($0.0, $1.arrays), max($0.1, $1.structures + 1), max($0.2, $1.all + 1))
            }
        case .tagged(let variants):
            let payloads = variants.filter { !$0.fields.isEmpty }.map { WireType.structure($0.fields).depth.all }
            return (0, 1, 2 + (payloads.max() ?? 0))
        default: return (0, 0, 0)
        }
    }
    var isTooDeep: Bool {
        let depth = depth
        return depth.arrays > WireLimits.depthOfOneKind || depth.structures > WireLimits.depthOfOneKind
            || depth.all > WireLimits.depth
    }
    /// Why D-Bus cannot carry the payloads in it, whose signatures are not part of its own.
    var payloadFault: String? {
        switch self {
        case .array(let inner), .optional(let inner), .dictionary(_, let inner): inner.payloadFault
        case .structure(let fields): fields.lazy.compactMap(\.type.payloadFault).first
        case .tagged(let variants): variants.lazy.compactMap(\.fault).first
        default: nil
        }
    }
}
