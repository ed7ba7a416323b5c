import Glibc

/// Writes the D-Bus wire format, little-endian, into bytes that grow.
///
/// Alignment counts from the first byte: write a message's header first, or a body alone.
package struct WireWriter: Sendable {
    /// Filled up to `count`; what follows is room.
    private var storage: [UInt8]
    package private(set) var count = 0

    private static var usual: Int { 256 }
    package init(capacity: Int = 256) { storage = [UInt8](repeating: 0, count: max(capacity, 32)) }

    private init() { storage = [] }
    /// Without memory, until something is written.
    package static var empty: Self { Self() }
    /// The bytes of its memory.
    var capacity: Int { storage.count }

    /// A copy of what was written.
    package var bytes: [UInt8] { Array(storage[..<count]) }

    /// What was written, without a copy; valid during the call only.
    package func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try storage.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }

    /// Hands over what was written, with the memory, and is empty then.
    package mutating func takeBytes() -> [UInt8] {
        var bytes: [UInt8] = []
        swap(&bytes, &storage)
        bytes.removeLast(bytes.count - count)
        count = 0
        return bytes
    }

    /// Forgets the bytes and keeps the memory.
    package mutating func removeAll() { count = 0 }
    /// Forgets what was written after `mark`, a former `count`.
    package mutating func truncate(to mark: Int) { count = min(count, max(mark, 0)) }

    /// Room for `size` bytes and for the padding before them.
    @inline(__always) private mutating func reserve(_ size: Int) {
        if storage.count - count < size + 16 { grow(size + 16) }
    }
    @inline(never) private mutating func grow(_ size: Int) {
        // Not by appending: without optimisation that takes the bytes one by one.
        var larger = [UInt8](repeating: 0, count: storage.count + max(size, storage.count, Self.usual))
        larger.withUnsafeMutableBytes { larger in
            // As large as what it is given, and larger.
            storage.withUnsafeBytes { larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        }
        storage = larger
    }

    @inline(__always) package mutating func align(_ alignment: Int) {
        reserve(0)
        pad(alignment)
    }
    /// Needs 8 bytes of room.
    @inline(__always) private mutating func pad(_ alignment: Int) {
        let aligned = (count + alignment - 1) & ~(alignment - 1)
        if aligned != count {
            // `reserve` came before: there are 8 bytes of room behind `count`.
            storage.withUnsafeMutableBytes { $0.storeBytes(of: 0, toByteOffset: count, as: UInt64.self) }
            count = aligned
        }
    }
    @inline(__always) private mutating func put<T: FixedWidthInteger & BitwiseCopyable>(_ value: T) {
        let size = MemoryLayout<T>.size
        reserve(size)
        let (end, start) = (count, (count + size - 1) & ~(size - 1))
        storage.withUnsafeMutableBytes { room in
            // `reserve` made the room: for the value, and for 8 bytes of padding.
            if start != end { room.storeBytes(of: 0, toByteOffset: end, as: UInt64.self) }
            room.storeBytes(of: value.littleEndian, toByteOffset: start, as: T.self)
        }
        count = start + size
    }

    @inline(__always) package mutating func byte(_ value: UInt8) { put(value) }
    @inline(__always) package mutating func bool(_ value: Bool) { put(UInt32(value ? 1 : 0)) }
    @inline(__always) package mutating func int16(_ value: Int16) { put(value) }
    @inline(__always) package mutating func uint16(_ value: UInt16) { put(value) }
    @inline(__always) package mutating func int32(_ value: Int32) { put(value) }
    @inline(__always) package mutating func uint32(_ value: UInt32) { put(value) }
    @inline(__always) package mutating func int64(_ value: Int64) { put(value) }
    @inline(__always) package mutating func uint64(_ value: UInt64) { put(value) }
    @inline(__always) package mutating func double(_ value: Double) { put(value.bitPattern) }

    /// Writes a string (`s`). Throws `.invalidArgument` with the field's name for one with a NUL inside.
    package mutating func string(_ value: String, named field: @autoclosure () -> String = "a string")
        throws(RelayError)
    {
        var value = value
        let isWritten = value.withUTF8 { utf8 -> Bool in
            if utf8.count > WireLimits.messageLength { return false }
            // In bounds: as many bytes as the text has.
            if let start = utf8.baseAddress, memchr(start, 0, utf8.count) != nil { return false }
            text(UnsafeRawBufferPointer(utf8))
            return true
        }
        if !isWritten {
            throw RelayError(
                .invalidArgument,
                "\(field()) has a NUL inside or is over 128 MiB; D-Bus strings cannot carry that: remove it, or send [UInt8]"
            )
        }
    }
    /// Writes a string (`s`) of bytes that are known to be one.
    mutating func string(_ utf8: some Collection<UInt8>) {
        let isWritten: Void? = utf8.withContiguousStorageIfAvailable { text(UnsafeRawBufferPointer($0)) }
        if isWritten == nil { Array(utf8).withUnsafeBytes { text($0) } }
    }
    private mutating func text(_ bytes: UnsafeRawBufferPointer) {
        put(UInt32(truncatingIfNeeded: bytes.count))
        reserve(bytes.count + 1)
        let start = count
        storage.withUnsafeMutableBytes { room in
            // `reserve` made the room.
            if let from = bytes.baseAddress, let to = room.baseAddress {
                (to + start).copyMemory(from: from, byteCount: bytes.count)
            }
            room[start + bytes.count] = 0
        }
        count = start + bytes.count + 1
    }
    /// Writes an object path (`o`). Throws `.invalidArgument` for what is none.
    package mutating func objectPath(_ value: String) throws(RelayError) {
        try BusNames.check(value, as: .objectPath)
        try string(value, named: "the object path")
    }
    /// Writes a signature (`g`).
    package mutating func signature(_ value: Signature) {
        put(UInt8(truncatingIfNeeded: value.text.utf8.count))  // At most 255: it was parsed.
        var text = value.text
        text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
        put(UInt8(0))
    }
    /// Writes bytes as they are, without alignment.
    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard !bytes.isEmpty else { return }
        reserve(bytes.count)
        storage.withUnsafeMutableBytes {
            // `reserve` made the room.
            UnsafeMutableRawBufferPointer(rebasing: $0[count..<count + bytes.count]).copyMemory(from: bytes)
        }
        count += bytes.count
    }
    package mutating func append(_ bytes: [UInt8]) { bytes.withUnsafeBytes { append($0) } }

    /// Leaves room for bytes that are filled in later; zeros until then.
    package mutating func skip(_ size: Int) {
        reserve(size)
        storage.withUnsafeMutableBytes { room in
            // `reserve` made the room.
            _ = UnsafeMutableRawBufferPointer(rebasing: room[count..<count + size]).initializeMemory(
                as: UInt8.self, repeating: 0)
        }
        count += size
    }

    /// An array that was begun.
    package struct ArrayMark: Sendable, BitwiseCopyable {
        let length: Int
        let start: Int
    }
    /// Begins an array (`a`): its length, filled in by `endArray`, and the padding before the first element.
    @inline(__always) package mutating func beginArray(elementAlignment: Int) -> ArrayMark {
        put(UInt32(0))
        let length = count - 4
        align(elementAlignment)
        return ArrayMark(length: length, start: count)
    }
    /// Ends an array. Throws `.tooLarge` over 64 MiB.
    package mutating func endArray(_ mark: ArrayMark) throws(RelayError) {
        let length = count - mark.start
        if length > WireLimits.arrayLength {
            throw RelayError(
                .tooLarge, "an array of \(length) bytes; D-Bus allows \(WireLimits.arrayLength): send it in parts")
        }
        patch(UInt32(truncatingIfNeeded: length), at: mark.length)
    }
    /// Replaces four bytes that were written before.
    package mutating func patch(_ value: UInt32, at offset: Int) {
        precondition(offset >= 0 && offset + 4 <= count, "a patch outside of what was written")
        storage.withUnsafeMutableBytes { $0.storeBytes(of: value.littleEndian, toByteOffset: offset, as: UInt32.self) }
    }
    /// Replaces eight bytes that were written before.
    package mutating func patch(_ value: UInt64, at offset: Int) {
        precondition(offset >= 0 && offset + 8 <= count, "a patch outside of what was written")
        storage.withUnsafeMutableBytes { $0.storeBytes(of: value.littleEndian, toByteOffset: offset, as: UInt64.self) }
    }
}
