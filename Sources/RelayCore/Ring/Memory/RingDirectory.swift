import RelayWire

/// A ring's list of events, as bytes.
///
/// For each: size of its raw bytes or all ones (`u32`), length of its name (`u32`), fingerprint (`u64`), length of its
/// layout (`u64`), then name and layout, each filled up to whole words.
enum RingDirectory {
    static func encode(_ events: [RingEvent]) -> [UInt8] {
        var bytes: [UInt8] = []
        func append(_ value: some FixedWidthInteger) { withUnsafeBytes(of: value) { bytes += $0 } }
        func append(_ text: String) {
            bytes += Array(text.utf8)
            while bytes.count % 8 != 0 { bytes.append(0) }
        }
        for event in events {
            append(event.rawSize.map { UInt32($0) } ?? UInt32.max)
            append(UInt32(event.name.utf8.count))
            append(event.fingerprint)
            append(UInt64(event.layout.utf8.count))
            append(event.name)
            append(event.layout)
        }
        return bytes
    }
    /// Takes a private copy: the bytes must not change any more.
    static func decode(_ bytes: [UInt8]) throws(RingFault) -> [RingEvent] {
        var events: [RingEvent] = []
        var names: Set<String> = []
        var rest = bytes[...]
        while !rest.isEmpty {
            guard rest.count >= 24 else { throw RingFault(.directory("it ends within an event")) }
            let (size, length) = (number(rest, 0, as: UInt32.self), number(rest, 4, as: UInt32.self))
            let (fingerprint, layoutLength) = (number(rest, 8, as: UInt64.self), number(rest, 16, as: UInt64.self))
            rest = rest.dropFirst(24)
            guard let name = text(&rest, UInt64(length)), BusNames.isMember(name) else {
                throw RingFault(.directory("a name that D-Bus does not allow"))
            }
            guard let layout = text(&rest, layoutLength) else {
                throw RingFault(.directory("'\(name)' with a layout that is no text"))
            }
            guard names.insert(name).inserted else { throw RingFault(.directory("two events named '\(name)'")) }
            let event = RingEvent(name: name, rawSize: size == .max ? nil : Int(size), layout: layout)
            // A reader without the type uses the text, one with the type compares the number: they must not differ.
            guard event.fingerprint == fingerprint, (event.rawSize == nil) == layout.isEmpty else {
                throw RingFault(.directory("'\(name)' with another layout than its fingerprint's"))
            }
            events.append(event)
        }
        return events
    }
    /// Takes so many bytes and what fills them up; nil when they are not there, or are no UTF-8.
    private static func text(_ rest: inout ArraySlice<UInt8>, _ length: UInt64) -> String? {
        guard length <= UInt64(rest.count) else { return nil }
        defer { rest = rest.dropFirst((Int(length) + 7) & ~7) }
        return String(validating: rest.prefix(Int(length)), as: UTF8.self)
    }
    private static func number<T: FixedWidthInteger & BitwiseCopyable>(
        _ bytes: ArraySlice<UInt8>, _ offset: Int, as type: T.Type
    ) -> T {
        // Within the slice: `decode` checked its count.
        bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: type) }
    }
}
