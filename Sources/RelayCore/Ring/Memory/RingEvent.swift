import RelayWire

/// One event of a ring's list: its records carry its number there.
package struct RingEvent: Hashable, Sendable {
    package let name: String
    /// The size of the value's own bytes, or nil for the wire encoding.
    package let rawSize: Int?
    /// Of raw bytes, in words: `at:f8,cpu:u4,place:(x:f4,y:f4)`, which is names, kinds and sizes of the fields in the
    /// order of the bytes. Empty for the wire encoding, which is matched by names.
    package let layout: String
    /// The layout's; 0 without one.
    package let fingerprint: UInt64

    package init(name: String, rawSize: Int? = nil, layout: String = "") {
        (self.name, self.rawSize, self.layout) = (name, rawSize, layout)
        fingerprint = layout.isEmpty ? 0 : Fingerprint.of(layout.utf8)
    }
    /// Throws `.unsupportedType` with type, field and reason for raw bytes that are not fit to be copied.
    package init<E: StreamEntry>(_ type: E.Type) throws(RelayError) {
        if type.isFixedLayout {
            self.init(name: type.name, rawSize: MemoryLayout<E>.size, layout: try FixedLayout.check(type))
        } else {
            self.init(name: type.name)
        }
    }
}
