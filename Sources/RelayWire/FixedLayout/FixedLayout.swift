/// Proves that a fixed-layout event's memory is exactly its coded fields, in order: no padding, no hidden field, no
/// Bool or enum whose bytes could be invalid.
///
/// `BitwiseCopyable` accepts all of these. So a value is decoded from a distinct byte pattern per field, and its memory
/// is compared with the patterns one after the other.
package enum FixedLayout {
    /// Bytes of a value: it lies on the stacks of all functions that handle it, more than once.
    static let largest = 1 << 16

    static func tooLarge(_ type: String) -> String {
        "\(type) has more than \(largest) bytes; send an ordinary array, or parts"
    }

    /// Returns the layout in words: names, kinds and sizes of the fields (`LayoutParser`). Throws `.unsupportedType`
    /// with field and reason.
    @discardableResult package static func check<E: StreamEntry>(_ type: E.Type) throws(RelayError) -> String {
        do throws(SchemaRefusal) { return try checked(type) } catch {
            throw RelayError(.unsupportedType, "\(error)", cause: error)
        }
    }

    /// The size of a value of a fixed layout that has the same bytes in memory and on the wire; nil for any other type.
    ///
    /// So it is where it has numbers alone, all of which are as large there: both align each number by its size, and
    /// the layout has no padding. A structure or an array within is aligned, or counted, on the wire only.
    static func plainSize<E: StreamEntry>(_ type: E.Type) -> Int? {
        guard type.isFixedLayout, let layout = try? check(type),
            let steps = try? FixedLayoutTranscoder(layout: layout).steps
        else { return nil }
        var size = 0
        for step in steps {
            guard case .number(let number) = step, number.isSameOnWire, size % number.size == 0 else { return nil }
            size += number.size
        }
        return size == MemoryLayout<E>.size ? size : nil
    }

    private static func checked<E: StreamEntry>(_ type: E.Type) throws(SchemaRefusal) -> String {
        func refusal(_ reason: String) -> SchemaRefusal { SchemaRefusal(type: "\(type)", field: "", reason: reason) }
        if MemoryLayout<E>.size > largest { throw refusal(tooLarge("\(type)")) }
        let record = PatternRecord(root: "\(type)")
        let run = PatternDecoder(record)
        let value: E
        do { value = try type.init(from: run) } catch let refusal as SchemaRefusal { throw refusal } catch {
            throw refusal("init(from:) refuses arbitrary numbers: \(error)")
        }
        let whole = try run.layout()
        let isStructure = whole.hasPrefix("(")
        let layout = isStructure ? String(whole.dropFirst().dropLast()) : "value:" + whole
        let (size, stride) = (MemoryLayout<E>.size, MemoryLayout<E>.stride)
        if size != record.bytes.count || stride != size {
            let placement = LayoutPlacement(layout: layout)
            // Only where all of the memory is accounted for is padding what is wrong.
            if let placement, placement.size == size, placement.stride == stride, let advice = placement.advice {
                throw refusal(advice)
            }
            let last = record.lastField.isEmpty ? "" : "; its last coded field is '\(record.lastField)'"
            throw refusal(
                "\(stride) bytes in memory for \(record.bytes.count) bytes of coded fields: an uncoded field\(last)")
        }
        if !withUnsafeBytes(of: value, { $0.elementsEqual(record.bytes) }) {
            throw refusal("its memory is not its coded fields in order: padding, or a custom coding")
        }
        if let reason = difference(value, layout, isStructure: isStructure) { throw refusal(reason) }
        return layout
    }
    /// Who has only the layout must read from the bytes what the type writes: nil if so.
    private static func difference<E: StreamEntry>(_ value: E, _ layout: String, isStructure: Bool) -> String? {
        var (fromBytes, fromType) = (WireWriter(), WireWriter())
        do throws(RelayError) {
            let transcoder = try FixedLayoutTranscoder(layout: layout)
            try withUnsafeBytes(of: value) { bytes throws(RelayError) in
                try transcoder.transcode(bytes, into: &fromBytes)
            }
            try WireEncoder.encode(
                value, isStructure: isStructure, CoderPool(WirePlan(transcoder.fields)), into: &fromType)
        } catch { return error.message }
        return fromBytes.bytes == fromType.bytes ? nil : "encode(to:) does not write the numbers that are in memory"
    }
}
