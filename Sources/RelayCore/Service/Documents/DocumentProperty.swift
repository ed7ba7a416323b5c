import RelayWire

/// A document as a D-Bus property: its place in messages of `org.freedesktop.DBus.Properties`.
struct DocumentProperty: Sendable {
    let name: String
    /// Of its fields, as one structure.
    let signature: Signature

    init(_ name: String, _ fields: WireSchema) throws(RelayError) {
        self.name = name
        signature = try Signature("(\(fields.signature))")
    }
    /// The state as a variant.
    func write(_ fields: [UInt8], into writer: inout WireWriter) {
        writer.signature(signature)
        writer.align(8)
        writer.append(fields)
    }
    /// The body of `PropertiesChanged`.
    func change(_ fields: [UInt8], of interface: String) throws(RelayError) -> [UInt8] {
        var writer = WireWriter(capacity: fields.count + 128)
        try writer.string(interface)
        let changed = writer.beginArray(elementAlignment: 8)
        writer.align(8)
        try writer.string(name)
        write(fields, into: &writer)
        try writer.endArray(changed)
        try writer.endArray(writer.beginArray(elementAlignment: 4))
        return writer.bytes
    }
    static let changeSignature = "sa{sv}as"
}
