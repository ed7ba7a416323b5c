/// A signal's whole body: the fields, padding, and the stamp, which is empty until the event has its place.
package struct EventBody: Sendable {
    package private(set) var bytes: [UInt8]
    package let fieldsLength: Int

    /// Takes what was written: the fields.
    package init(_ fields: inout WireWriter) {
        fieldsLength = fields.count
        for _ in 0..<3 { fields.uint64(0) }
        bytes = fields.takeBytes()
    }
    /// Fills the stamp in, in place if nobody else holds this body.
    package mutating func stamp(_ sequence: UInt64, previous: UInt64, at time: UInt64) {
        let stamp = bytes.count - 24
        bytes.withUnsafeMutableBytes { bytes in
            // `init` made the room.
            bytes.storeBytes(of: sequence.littleEndian, toByteOffset: stamp, as: UInt64.self)
            bytes.storeBytes(of: previous.littleEndian, toByteOffset: stamp + 8, as: UInt64.self)
            bytes.storeBytes(of: time.littleEndian, toByteOffset: stamp + 16, as: UInt64.self)
        }
    }
}
