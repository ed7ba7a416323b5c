/// The values of an enum of coding keys, which no protocol lists.
///
/// Swift writes such an enum beside the `Codable` conformance of an enum with payloads: one key per case. An enum without
/// payloads is a number in memory, from 0. How many there are is in the type's descriptor, which each enum has, also
/// without reflection metadata; the names come from the keys themselves, so that renamed ones have theirs.
enum EnumKeys {
    struct Fault: Error { let reason: String }

    static func all<Key: CodingKey>(_ type: Key.Type) throws(Fault) -> [Key] {
        guard let count = count(type) else { throw Fault(reason: "its coding keys are no plain enum") }
        let keys = (0..<count).map { key(type, $0) }
        // What is read by name must be the same key again: else these are not the keys.
        let names = keys.map(\.stringValue)
        guard Set(names).count == count, zip(names, 0...).allSatisfy({ isSame(Key(stringValue: $0), type, $1) }) else {
            throw Fault(reason: "its coding keys are not those that Swift writes; declare them as an enum of strings")
        }
        return keys
    }

    private static func key<Key>(_ type: Key.Type, _ index: Int) -> Key {
        withUnsafeTemporaryAllocation(of: type, capacity: 1) { place in
            let bytes = UnsafeMutableRawBufferPointer(place)
            // The size of one of `count` values: 0, 1 or 2 bytes, of which each number below the count is a value.
            withUnsafeBytes(of: UInt32(index).littleEndian) {
                bytes.copyMemory(from: .init(rebasing: $0[..<bytes.count]))
            }
            return place[0]
        }
    }
    private static func isSame<Key>(_ key: Key?, _ type: Key.Type, _ index: Int) -> Bool {
        guard let key else { return false }
        return withUnsafeBytes(of: key) { bytes in
            withUnsafeBytes(of: UInt32(index).littleEndian) { $0.starts(with: bytes) }
        }
    }

    /// The number of cases; nil for what is no enum, or has payloads.
    private static func count<Key>(_ type: Key.Type) -> Int? {
        // A type's metadata begins with its kind, and an enum's goes on with its descriptor (TypeMetadata.rst of Swift,
        // "Enum Metadata" and "Nominal Type Descriptor"). Both are constants of the program.
        let metadata = unsafeBitCast(type, to: UnsafeRawPointer.self)
        guard metadata.load(as: UInt.self) == enumKind else { return nil }
        let descriptor = metadata.load(fromByteOffset: MemoryLayout<UInt>.size, as: UnsafeRawPointer.self)
        let payloads = descriptor.load(fromByteOffset: 20, as: UInt32.self) & 0x00FF_FFFF
        let count = Int(descriptor.load(fromByteOffset: 24, as: UInt32.self))
        guard payloads == 0, count <= most, MemoryLayout<Key>.size == size(count) else { return nil }
        return isConfirmed(type, count) ? count : nil
    }
    private static var enumKind: UInt { 0x201 }
    private static var most: Int { 1 << 16 }

    private static func size(_ count: Int) -> Int { count <= 1 ? 0 : count <= 1 << 8 ? 1 : 2 }

    /// In an optional, nil is the first number that is no value: the compiler's layout says the count again.
    private static func isConfirmed<Key>(_ type: Key.Type, _ count: Int) -> Bool {
        let hasRoom = count > 1 && count != 1 << 8 && count != 1 << 16
        guard hasRoom else { return MemoryLayout<Key?>.size == MemoryLayout<Key>.size + 1 }
        guard MemoryLayout<Key?>.size == MemoryLayout<Key>.size else { return false }
        return isSame(Key?.none, Key?.self, count)
    }
}
