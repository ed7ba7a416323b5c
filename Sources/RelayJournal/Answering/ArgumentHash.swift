import RelayCore

/// A hash of a command's arguments, which distinguishes a repetition from another command with the same key.
///
/// FNV-1a over the encoding. Dictionaries and sets are encoded in an order that differs from process to process: of these
/// each element is hashed alone, and the hashes are added up.
struct ArgumentHash {
    /// nil where the encoding itself is the same each time.
    private let signature: Signature?
    /// Of each field: whether its arrays have no order. (A set is an array on the wire: its type alone shows it.)
    private let hasSets: [Bool]

    init(_ schema: WireSchema) throws(RelayError) {
        hasSets = schema.fields.map(\.hasSets)
        let isOrdered = !hasSets.contains(true) && !schema.signature.contains("{")
        signature = isOrdered ? nil : try Signature(schema.signature)
    }
    func value(_ body: UnsafeRawBufferPointer) -> Int64 {
        var hash = FNV()
        // What is too deep for a tool's reader is compared as it is.
        if let signature, let values = try? DBusValue.decode(signature: signature, body: body),
            values.count == hasSets.count
        {
            for (value, hasSet) in zip(values, hasSets) { hash.combine(value, hasSet) }
        } else {
            hash.combine(body)
        }
        return Int64(bitPattern: hash.value)
    }
}

extension FNV {
    /// Counts come first, so that no value's end is another one's beginning.
    fileprivate mutating func combine(_ value: DBusValue, _ hasSets: Bool) {
        switch value {
        case .string(let text):
            combine(number: UInt64(text.utf8.count))
            combine(text)
        case .bytes(let bytes):
            combine(number: UInt64(bytes.count))
            if hasSets {
                combine(number: Self.sum(bytes) { $0.combine(byte: $1) })
            } else {
                bytes.withUnsafeBytes { combine($0) }
            }
        case .array(_, let elements):
            combine(number: UInt64(elements.count))
            if hasSets {
                combine(number: Self.sum(elements) { $0.combine($1, true) })
            } else {
                for element in elements { combine(element, false) }
            }
        case .dictionary(_, let entries):
            combine(number: UInt64(entries.count))
            combine(
                number: Self.sum(entries) {
                    $0.combine($1.key, hasSets)
                    $0.combine($1.value, hasSets)
                })
        case .structure(let fields): for field in fields { combine(field, hasSets) }
        // Numbers, each in the one way that Swift prints it.
        default: combine("\(value);")
        }
    }
    private static func sum<Element>(_ elements: [Element], _ combine: (inout FNV, Element) -> Void) -> UInt64 {
        var sum: UInt64 = 0
        for element in elements {
            var hash = FNV()
            combine(&hash, element)
            sum &+= hash.value
        }
        return sum
    }
}
