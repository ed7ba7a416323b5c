/// A number of a fixed layout: how it lies in memory, and what it is on the wire.
enum LayoutNumber: UInt8, Sendable, CaseIterable {
    case int8, int16, int32, int64, uint8, uint16, uint32, uint64, float, double

    /// Nil for a type that is no such number.
    init?(_ type: Any.Type) {
        if type == UInt8.self {
            self = .uint8
        } else if type == UInt16.self {
            self = .uint16
        } else if type == UInt32.self {
            self = .uint32
        } else if type == UInt64.self || type == UInt.self {
            self = .uint64
        } else if type == Int8.self {
            self = .int8
        } else if type == Int16.self {
            self = .int16
        } else if type == Int32.self {
            self = .int32
        } else if type == Int64.self || type == Int.self {
            self = .int64
        } else if type == Float.self {
            self = .float
        } else if type == Double.self {
            self = .double
        } else {
            return nil
        }
    }
    /// By its kind and its size, as a layout's text has them.
    init?(_ kind: UInt8, _ size: UInt8) {
        guard let number = Self.allCases.first(where: { $0.text.utf8.elementsEqual([kind, size]) }) else { return nil }
        self = number
    }
    /// Kind (`i`, `u`, `f`) and bytes.
    var text: String {
        switch self {
        case .int8: "i1"
        case .int16: "i2"
        case .int32: "i4"
        case .int64: "i8"
        case .uint8: "u1"
        case .uint16: "u2"
        case .uint32: "u4"
        case .uint64: "u8"
        case .float: "f4"
        case .double: "f8"
        }
    }
    /// Bytes in memory.
    var size: Int {
        switch self {
        case .int8, .uint8: 1
        case .int16, .uint16: 2
        case .int32, .uint32, .float: 4
        case .int64, .uint64, .double: 8
        }
    }
    /// D-Bus has no signed byte, and no short float.
    var type: WireType {
        switch self {
        case .int8, .int16: .int16
        case .int32: .int32
        case .int64: .int64
        case .uint8: .byte
        case .uint16: .uint16
        case .uint32: .uint32
        case .uint64: .uint64
        case .float, .double: .double
        }
    }
    /// Of an array's element in a plan.
    var kind: WirePlan.Kind {
        switch self {
        case .int8, .int16: .int16
        case .int32: .int32
        case .int64: .int64
        case .uint8: .byte
        case .uint16: .uint16
        case .uint32: .uint32
        case .uint64: .uint64
        case .float, .double: .double
        }
    }
    /// Bytes on the wire, which are its alignment there, too.
    var wireSize: Int {
        switch self {
        case .int8: 2
        case .float: 8
        default: size
        }
    }
    /// An array of it has the same bytes on the wire as in memory.
    var isSameOnWire: Bool { size == wireSize && (size == 1 || UInt16(1).littleEndian == 1) }

    /// Writes the one number that lies at `offset`, which must be within the bytes.
    @inline(__always) func write(_ bytes: UnsafeRawBufferPointer, at offset: Int, into writer: inout WireWriter) {
        // Within the bytes, by the caller's promise. Numbers: every byte is valid.
        switch self {
        case .int8: writer.int16(Int16(bytes.loadUnaligned(fromByteOffset: offset, as: Int8.self)))
        case .int16: writer.int16(bytes.loadUnaligned(fromByteOffset: offset, as: Int16.self))
        case .int32: writer.int32(bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self))
        case .int64: writer.int64(bytes.loadUnaligned(fromByteOffset: offset, as: Int64.self))
        case .uint8: writer.byte(bytes.loadUnaligned(fromByteOffset: offset, as: UInt8.self))
        case .uint16: writer.uint16(bytes.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
        case .uint32: writer.uint32(bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
        case .uint64: writer.uint64(bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        case .float: writer.double(Double(bytes.loadUnaligned(fromByteOffset: offset, as: Float.self)))
        case .double: writer.double(bytes.loadUnaligned(fromByteOffset: offset, as: Double.self))
        }
    }
    /// Writes all the numbers that the bytes are as an array. Throws `.tooLarge` over 64 MiB.
    func writeArray(_ bytes: UnsafeRawBufferPointer, into writer: inout WireWriter) throws(RelayError) {
        let mark = writer.beginArray(elementAlignment: wireSize)
        if isSameOnWire {
            writer.append(bytes)
        } else {
            for offset in stride(from: 0, to: bytes.count, by: size) { write(bytes, at: offset, into: &writer) }
        }
        try writer.endArray(mark)
    }
    /// A number on the wire that is none in memory: there are narrower ones.
    struct Unfit: Error { let value: Int16 }

    /// An array's elements as they are in memory, of those on the wire: whole ones.
    func narrowed(_ elements: UnsafeRawBufferPointer) throws(Unfit) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(elements.count / wireSize * size)
        for offset in stride(from: 0, to: elements.count, by: wireSize) {
            // Within the bytes, which are whole elements.
            switch self {
            case .int8:
                let wide = Int16(littleEndian: elements.loadUnaligned(fromByteOffset: offset, as: Int16.self))
                guard let value = Int8(exactly: wide) else { throw Unfit(value: wide) }
                bytes.append(UInt8(bitPattern: value))
            case .float:
                let wide = UInt64(littleEndian: elements.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
                withUnsafeBytes(of: Float(Double(bitPattern: wide))) { bytes.append(contentsOf: $0) }
            default:
                // Of a machine of the other byte order.
                bytes.append(contentsOf: elements[offset..<offset + size].reversed())
            }
        }
        return bytes
    }
}
