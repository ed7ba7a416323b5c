/// Proves that a fixed-layout event's memory is exactly its coded fields, in order: no padding, no hidden field, no Bool or
/// enum whose bytes could be invalid.
///
/// `BitwiseCopyable` accepts all of these. So a value is decoded from a distinct byte pattern per field, and its memory is
/// compared with the patterns one after the other.
enum FixedLayout {
    /// Returns the layout in words: names, kinds and sizes of the fields. Throws `.unsupportedType` with field and reason.
    @discardableResult static func check<E: DomainEvent>(_ type: E.Type) throws(RelayError) -> String {
        let run = PatternDecoder(root: "\(type)")
        do throws(SchemaRefusal) {
            let value: E
            do { value = try type.init(from: run) } catch let refusal as SchemaRefusal { throw refusal } catch {
                throw SchemaRefusal(
                    type: "\(type)", field: "", reason: "init(from:) refuses arbitrary numbers: \(error)")
            }
            let size = MemoryLayout<E>.size
            if size != run.expected.count || MemoryLayout<E>.stride != size {
                let last = run.offsets.last.map { "; its last coded field is '\($0)'" } ?? ""
                throw SchemaRefusal(
                    type: "\(type)", field: "",
                    reason:
                        "\(MemoryLayout<E>.stride) bytes in memory for \(run.expected.count) bytes of fields: padding or an uncoded field\(last)"
                )
            }
            let isEqual = withUnsafeBytes(of: value) { bytes in bytes.elementsEqual(run.expected) }
            if !isEqual {
                throw SchemaRefusal(
                    type: "\(type)", field: "",
                    reason: "its memory is not its coded fields in order: padding, or a custom coding")
            }
            return run.layout
        } catch {
            throw RelayError(.unsupportedType, "\(error)", cause: error)
        }
    }
}
