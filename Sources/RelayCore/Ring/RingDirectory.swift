/// A ring's list of events, as bytes.
///
/// For each: size of its raw bytes or all ones (`u32`), length of its name (`u32`), fingerprint (`u64`), the name filled up to
/// whole words.
enum RingDirectory {
    static func encode(_ events: [RingEvent]) -> [UInt8] {
        var bytes: [UInt8] = []
        func append(_ value: some FixedWidthInteger) { withUnsafeBytes(of: value) { bytes += $0 } }
        for event in events {
            append(event.rawSize.map { UInt32($0) } ?? UInt32.max)
            append(UInt32(event.name.utf8.count))
            append(event.fingerprint)
            bytes += Array(event.name.utf8)
            while bytes.count % 8 != 0 { bytes.append(0) }
        }
        return bytes
    }
    /// Takes a private copy: the bytes must not change any more.
    static func decode(_ bytes: [UInt8]) throws(RingFault) -> [RingEvent] {
        var events: [RingEvent] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            guard rest.count >= 16 else { throw RingFault(.directory("it ends within an event")) }
            let (size, length) = (number(rest, 0, as: UInt32.self), Int(number(rest, 4, as: UInt32.self)))
            let fingerprint = number(rest, 8, as: UInt64.self)
            rest = rest.dropFirst(16)
            guard length <= rest.count else { throw RingFault(.directory("a name of \(length) bytes")) }
            guard let name = String(validating: rest.prefix(length), as: UTF8.self), BusNames.isMember(name) else {
                throw RingFault(.directory("a name that D-Bus does not allow"))
            }
            rest = rest.dropFirst((length + 7) & ~7)
            guard !events.contains(where: { $0.name == name }) else {
                throw RingFault(.directory("two events named '\(name)'"))
            }
            events.append(
                RingEvent(name: name, rawSize: size == .max ? nil : Int(size), fingerprint: fingerprint))
        }
        return events
    }
    private static func number<T: FixedWidthInteger & BitwiseCopyable>(
        _ bytes: ArraySlice<UInt8>, _ offset: Int, as type: T.Type
    ) -> T {
        // Within the slice: `decode` looked at its count.
        bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: type) }
    }
}
