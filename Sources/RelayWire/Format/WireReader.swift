import Glibc

/// Reads the D-Bus wire format, little-endian, from bytes that may be anything.
///
/// Checks what libdbus checks, so that it accepts what libdbus accepts. Alignment counts from the first byte. The bytes
/// must outlive the reader and not change under it.
package struct WireReader {
    private let base: UnsafeRawPointer
    package let count: Int
    package var position: Int

    package init(_ bytes: UnsafeRawBufferPointer) {
        // An empty buffer has no address; one that is never read from stands in.
        base = bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 8)!
        (count, position) = (bytes.count, 0)
    }

    package var isAtEnd: Bool { position == count }
    package var remaining: Int { count - position }

    /// Throws when bytes are left.
    package func finish() throws(WireFault) {
        if position != count { throw WireFault(.trailing(count - position), at: position) }
    }
    @inline(__always) package mutating func align(_ alignment: Int) throws(WireFault) {
        let aligned = (position + alignment - 1) & ~(alignment - 1)
        if aligned != position { try skipPadding(to: aligned) }
    }
    @inline(never) private mutating func skipPadding(to aligned: Int) throws(WireFault) {
        if aligned > count { throw WireFault(.truncated(needed: aligned - position, left: remaining), at: position) }
        if position + 8 <= count {
            // In bounds: checked just now. Padding has 1 to 7 bytes, the first ones of these 8.
            let bytes = UInt64(littleEndian: base.loadUnaligned(fromByteOffset: position, as: UInt64.self))
            if bytes << (64 - 8 * UInt64(aligned - position)) == 0 {
                position = aligned
                return
            }
        }
        while position < aligned {
            // Below `count`: checked above.
            if base.load(fromByteOffset: position, as: UInt8.self) != 0 { throw WireFault(.padding, at: position) }
            position += 1
        }
    }
    @inline(__always) private func need(_ size: Int) throws(WireFault) {
        if count - position < size { throw WireFault(.truncated(needed: size, left: remaining), at: position) }
    }
    @inline(__always) private mutating func take<T: FixedWidthInteger & BitwiseCopyable>(_ type: T.Type)
        throws(WireFault) -> T
    {
        try align(MemoryLayout<T>.size)
        try need(MemoryLayout<T>.size)
        // In bounds: `need` checked it.
        let value = T(littleEndian: base.loadUnaligned(fromByteOffset: position, as: T.self))
        position += MemoryLayout<T>.size
        return value
    }

    @inline(__always) package mutating func byte() throws(WireFault) -> UInt8 { try take(UInt8.self) }
    @inline(__always) package mutating func int16() throws(WireFault) -> Int16 { try take(Int16.self) }
    @inline(__always) package mutating func uint16() throws(WireFault) -> UInt16 { try take(UInt16.self) }
    @inline(__always) package mutating func int32() throws(WireFault) -> Int32 { try take(Int32.self) }
    @inline(__always) package mutating func uint32() throws(WireFault) -> UInt32 { try take(UInt32.self) }
    @inline(__always) package mutating func int64() throws(WireFault) -> Int64 { try take(Int64.self) }
    @inline(__always) package mutating func uint64() throws(WireFault) -> UInt64 { try take(UInt64.self) }
    @inline(__always) package mutating func double() throws(WireFault) -> Double {
        Double(bitPattern: try take(UInt64.self))
    }
    package mutating func bool() throws(WireFault) -> Bool {
        let value = try take(UInt32.self)
        if value > 1 { throw WireFault(.boolean(value), at: position - 4) }
        return value == 1
    }
    package mutating func string() throws(WireFault) -> String {
        let bytes = try stringBytes()
        // Valid: `stringBytes` checked it.
        return String(copying: UTF8Span(unchecked: Span(_unsafeElements: bytes.bindMemory(to: UInt8.self))))
    }
    package mutating func skipString() throws(WireFault) { _ = try stringBytes() }

    /// A string's bytes where they are, checked; valid as long as the reader's.
    package mutating func stringBytes() throws(WireFault) -> UnsafeRawBufferPointer {
        let bytes = try terminated(Int(try take(UInt32.self)))
        switch UTF8Check.check(bytes) {
        case .valid: return bytes
        case .embeddedNUL: throw WireFault(.embeddedNUL, at: position - bytes.count - 1)
        case .invalid: throw WireFault(.utf8, at: position - bytes.count - 1)
        }
    }
    /// `length` bytes and a NUL.
    @inline(__always) private mutating func terminated(_ length: Int) throws(WireFault) -> UnsafeRawBufferPointer {
        try need(length + 1)
        // In bounds: `need` checked it.
        if base.load(fromByteOffset: position + length, as: UInt8.self) != 0 {
            throw WireFault(.unterminated, at: position + length)
        }
        let bytes = UnsafeRawBufferPointer(start: base + position, count: length)
        position += length + 1
        return bytes
    }
    package mutating func objectPath() throws(WireFault) -> String {
        let bytes = try terminated(Int(try take(UInt32.self)))
        guard BusNames.isObjectPath(bytes) else { throw WireFault(.objectPath, at: position - bytes.count - 1) }
        return String(decoding: bytes, as: UTF8.self)
    }
    /// A signature's bytes where they are, not examined; valid as long as the reader's.
    package mutating func signatureBytes() throws(WireFault) -> UnsafeRawBufferPointer {
        try terminated(Int(try take(UInt8.self)))
    }
    package mutating func signature() throws(WireFault) -> Signature {
        let start = position
        let bytes = try signatureBytes()
        do throws(SignatureFault) { return try Signature(utf8: bytes) } catch {
            throw WireFault(.signature(error.reason), at: start)
        }
    }
    /// Reads an array's length and the padding before its first element; returns the position of its end.
    package mutating func beginArray(elementAlignment: Int) throws(WireFault) -> Int {
        let start = position
        let length = Int(try take(UInt32.self))
        if length > WireLimits.arrayLength { throw WireFault(.arrayTooLong(length), at: start) }
        try align(elementAlignment)
        try need(length)
        return position + length
    }
    /// Checks that the elements filled their array exactly.
    @inline(__always) package func endArray(_ end: Int, elements start: Int) throws(WireFault) {
        if position != end { throw WireFault(.arrayLength(end - start), at: start) }
    }
    /// Reads an array: `read` takes one element, from its alignment on.
    package mutating func elements<Element>(
        alignment: Int = 8, _ read: (inout WireReader) throws(WireFault) -> Element
    ) throws(WireFault) -> [Element] {
        let end = try beginArray(elementAlignment: alignment)
        let start = position
        var elements: [Element] = []
        while position < end {
            try align(alignment)
            elements.append(try read(&self))
        }
        try endArray(end, elements: start)
        return elements
    }
    /// Whether the next bytes are those at an earlier position. False when there are fewer.
    @inline(__always) package func repeats(_ size: Int, of earlier: Int) -> Bool {
        // In bounds: so many are left, and the others lie before them.
        remaining >= size && memcmp(base + position, base + earlier, size) == 0
    }
    /// Bytes that were read already; `range` counts from `start`.
    @inline(__always) package func bytes(_ range: Range<Int>, from start: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: base + start + range.lowerBound, count: range.count)
    }
    /// `size` bytes as they are; valid as long as the reader's.
    package mutating func raw(_ size: Int) throws(WireFault) -> UnsafeRawBufferPointer {
        try need(size)
        defer { position += size }
        return UnsafeRawBufferPointer(start: base + position, count: size)
    }
}

extension WireReader {
    /// Passes over one value, checking it like one that is read.
    mutating func skip(_ index: Int32, _ plan: WirePlan) throws(WireFault) {
        let node = plan.nodes[Int(index)]
        switch node.kind {
        case .bool: _ = try bool()
        case .byte: _ = try byte()
        case .int16, .uint16: _ = try uint16()
        case .int32, .uint32: _ = try uint32()
        case .int64, .uint64, .double: _ = try uint64()
        case .string: try skipString()
        case .structure:
            try align(8)
            for field in node.first..<node.last { try skip(plan.fields[Int(field)].node, plan) }
        case .array:
            let end = try beginArray(elementAlignment: Int(plan.nodes[Int(node.first)].alignment))
            let start = position
            while position < end { try skip(node.first, plan) }
            try endArray(end, elements: start)
        case .dictionary:
            let end = try beginArray(elementAlignment: 8)
            let start = position
            while position < end {
                try align(8)
                try skip(node.first, plan)
                try skip(node.last, plan)
            }
            try endArray(end, elements: start)
        case .optional:
            let end = try beginArray(elementAlignment: Int(plan.nodes[Int(node.first)].alignment))
            if position < end { try skip(node.first, plan) }
            if position != end { throw WireFault(.optional, at: position) }
        case .tagged: _ = try variant(plan.enums[Int(node.first)], plan, skipping: true)
        }
    }
    /// Reads which case an enum's value is, and what leads to its payload; passes over the payload, too, if that is
    /// asked for, or if there is none. Nil for a case that the plan lacks: its payload, of whatever type, is passed over.
    mutating func variant(
        _ type: WirePlan.Enum, _ plan: WirePlan, skipping: Bool = false
    ) throws(WireFault) -> WirePlan.Variant? {
        try align(8)
        guard let variant = type.variant(try stringBytes()) else {
            try skip(try variantType(), depth: type.depth)
            return nil
        }
        let start = position
        let signature = try signatureBytes()
        guard variant.hasPayload else {
            // A byte 0, or what somebody found easier to send.
            guard signature.count == 1, let number = DBusType(code: signature[0]), number.isInteger else {
                throw mismatch(variant, signature, at: start)
            }
            try skip(number)
            return variant
        }
        var expected = variant.signature.text
        if !expected.withUTF8({ signature.elementsEqual($0) }) { throw mismatch(variant, signature, at: start) }
        if skipping { try skip(variant.node, plan) }
        return variant
    }
    private func mismatch(_ variant: WirePlan.Variant, _ signature: UnsafeRawBufferPointer, at start: Int) -> WireFault
    {
        let came = BusNames.quoted(String(decoding: signature, as: UTF8.self))
        return WireFault(
            .payload("the case '\(variant.name)' has \(came) instead of '\(variant.signature)'"), at: start)
    }
}
