import RelayCore
import RelayTool
import RelayWire

/// Writes a body's arguments with their names: `boxID=3 title="Kitchen"`, or the inside of a JSON object.
///
/// What does not change from one body to the next is prepared.
struct FieldsPrinter {
    private struct Field {
        let shape: Shape
        /// ` boxID=`, or `"boxID":`, with colours and commas.
        let label: [UInt8]
    }
    private let fields: [Field]
    /// The places of those that are shown, in their order; nil: all.
    private let chosen: [Int]?
    /// Of the bodies that this can print.
    let signature: String
    private let isShort: Bool

    /// Prints `fields`, which a body of this signature begins with.
    init(_ fields: [IntrospectedField], signature: String, style: OutputStyle) {
        (self.signature, isShort) = (signature, !style.json)
        let chosen = style.fields.map { names in names.compactMap { name in fields.firstIndex { $0.name == name } } }
        self.chosen = chosen
        self.fields = fields.enumerated().map { place, field in
            var label = ByteBuffer()
            let index = chosen.map { $0.firstIndex(of: place) ?? 0 } ?? place
            if style.json {
                if index > 0 { label.append(byte: UInt8(ascii: ",")) }
                SafeText.append(quoted: field.name, to: &label)
                label.append(byte: UInt8(ascii: ":"))
            } else {
                if index > 0 { label.append(byte: UInt8(ascii: " ")) }
                if style.hasColor { label.append(Color.field) }
                SafeText.append(field.name, to: &label)
                label.append(byte: UInt8(ascii: "="))
                if style.hasColor { label.append(Color.reset) }
            }
            return Field(shape: style.json ? field.shape.unnamed : field.shape, label: label.bytes)
        }
    }

    /// For a body that nothing is known of but its signature: `arg0=… arg1=…`; nil if that is none.
    init?(unknown signature: String, leavingOut tail: Int = 0, style: OutputStyle) {
        guard let types = try? Signature(signature).types else { return nil }
        let fields = types.dropLast(tail).enumerated().map { index, type in
            IntrospectedField(name: "arg\(index)", shape: Shape(type))
        }
        self.init(fields, signature: signature, style: style)
    }

    var isEmpty: Bool { chosen?.isEmpty ?? fields.isEmpty }

    /// Throws when the bytes do not match the signature; what was written until then stands.
    ///
    /// - Parameter longest: as `ValuePrinter` has it.
    func append(_ body: UnsafeRawBufferPointer, to output: inout ByteBuffer, longest: Int = .max) throws(WireFault) {
        if let chosen { return try append(body, inOrder: chosen, to: &output, longest) }
        var reader = WireReader(body)
        for field in fields {
            output.append(field.label)
            try ValuePrinter.append(field.shape, from: &reader, to: &output, longest: longest, isShort: isShort)
        }
    }
    private func append(
        _ body: UnsafeRawBufferPointer, inOrder chosen: [Int], to output: inout ByteBuffer, _ longest: Int
    ) throws(WireFault) {
        var reader = WireReader(body)
        var values = [Int: ArraySlice<UInt8>]()
        for (place, field) in fields.enumerated() {
            var value = ByteBuffer()
            try ValuePrinter.append(field.shape, from: &reader, to: &value, longest: longest, isShort: isShort)
            if chosen.contains(place) { values[place] = value.bytes[...] }
        }
        for place in chosen {
            output.append(fields[place].label)
            output.append(values[place] ?? [])
        }
    }
    /// Appends the fields of a body that is an array of bytes.
    func append(_ body: [UInt8], to output: inout ByteBuffer) throws(WireFault) {
        // `withUnsafeBytes` rethrows untyped: the fault comes out by the side.
        var fault: WireFault?
        body.withUnsafeBytes { bytes in
            do throws(WireFault) { try append(bytes, to: &output) } catch { fault = error }
        }
        if let fault { throw fault }
    }
    /// The fields at some places only, each after a space; for people.
    func append(
        _ body: UnsafeRawBufferPointer, only chosen: Set<Int>, to output: inout ByteBuffer, longest: Int = .max
    ) throws(WireFault) {
        var reader = WireReader(body)
        for (index, field) in fields.enumerated() {
            let start = output.count
            if index == 0 { output.append(byte: UInt8(ascii: " ")) }
            output.append(field.label)
            try ValuePrinter.append(field.shape, from: &reader, to: &output, longest: longest, isShort: isShort)
            if !chosen.contains(index) { output.truncate(to: start) }
        }
    }
    /// A whole JSON object. JSON must stay JSON: one whose bytes end early is shown without fields, and returned is
    /// why.
    func appendObject(_ body: UnsafeRawBufferPointer, to output: inout ByteBuffer) -> WireFault? {
        let start = output.count
        output.append(byte: UInt8(ascii: "{"))
        do throws(WireFault) {
            try append(body, to: &output)
            output.append(byte: UInt8(ascii: "}"))
            return nil
        } catch {
            output.truncate(to: start)
            output.append("{}")
            return error
        }
    }
}
