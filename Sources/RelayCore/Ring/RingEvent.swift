/// One event of a ring's list: its records carry its number there.
package struct RingEvent: Hashable, Sendable {
    package let name: String
    /// The size of the value's own bytes, or nil for the wire encoding.
    package let rawSize: Int?
    /// Of the layout of raw bytes: names, kinds and sizes of the fields. 0 for the wire encoding, which is matched by names.
    package let fingerprint: UInt64

    package init(name: String, rawSize: Int?, fingerprint: UInt64) {
        (self.name, self.rawSize, self.fingerprint) = (name, rawSize, fingerprint)
    }
    /// Throws `.unsupportedType` with type, field and reason for raw bytes that are not fit to be copied.
    package init<E: DomainEvent>(_ type: E.Type) throws(RelayError) {
        switch type.ringPayload.kind {
        case .wire: self.init(name: type.name, rawSize: nil, fingerprint: 0)
        case .raw(let size):
            let layout = try FixedLayout.check(type)
            guard size == MemoryLayout<E>.size else {
                throw RelayError(
                    .unsupportedType,
                    "\(type): its ringPayload has \(size) bytes, its values have \(MemoryLayout<E>.size); leave it to FixedLayoutEvent"
                )
            }
            self.init(name: type.name, rawSize: size, fingerprint: Fingerprint.of(layout.utf8))
        }
    }
}
