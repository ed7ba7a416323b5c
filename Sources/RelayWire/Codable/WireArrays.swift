/// Arrays of numbers and strings, written and read at once instead of by a call through Codable for each element.
enum WireArrays {
    /// False when the value is no such array, or the plan has something else there.
    static func write<T: Encodable>(
        _ value: T, _ plan: WirePlan, _ node: Int32, _ writer: inout WireWriter
    ) throws -> Bool {
        let array = plan.nodes[Int(node)]
        guard array.kind == .array else { return false }
        switch plan.nodes[Int(array.first)].kind {
        case .byte: return try write(value, [UInt8].self, .uint8, &writer)
        case .int16: return try write(value, [Int16].self, .int16, &writer)
        case .uint16: return try write(value, [UInt16].self, .uint16, &writer)
        case .int32: return try write(value, [Int32].self, .int32, &writer)
        case .uint32: return try write(value, [UInt32].self, .uint32, &writer)
        case .int64:
            return try write(value, [Int64].self, .int64, &writer) || write(value, [Int].self, .int64, &writer)
        case .uint64:
            return try write(value, [UInt64].self, .uint64, &writer) || write(value, [UInt].self, .uint64, &writer)
        case .double:
            return try write(value, [Double].self, .double, &writer) || write(value, [Float].self, .float, &writer)
        case .string:
            guard let values = same(value, [String].self) else { return false }
            let mark = writer.beginArray(elementAlignment: 4)
            for value in values { try writer.string(value) }
            try writer.endArray(mark)
            return true
        default: return false
        }
    }
    /// Nil when the type is no such array, or the plan has something else there.
    static func read<T: Decodable>(_ type: T.Type, _ plan: WirePlan, _ node: Int32, _ reader: inout WireReader)
        throws(WireFault) -> T?
    {
        let array = plan.nodes[Int(node)]
        guard array.kind == .array else { return nil }
        switch plan.nodes[Int(array.first)].kind {
        case .byte where T.self == [UInt8].self: return try read(UInt8.self, .uint8, &reader)
        case .int16 where T.self == [Int16].self: return try read(Int16.self, .int16, &reader)
        case .uint16 where T.self == [UInt16].self: return try read(UInt16.self, .uint16, &reader)
        case .int32 where T.self == [Int32].self: return try read(Int32.self, .int32, &reader)
        case .uint32 where T.self == [UInt32].self: return try read(UInt32.self, .uint32, &reader)
        case .int64 where T.self == [Int64].self: return try read(Int64.self, .int64, &reader)
        case .int64 where T.self == [Int].self: return try read(Int.self, .int64, &reader)
        case .uint64 where T.self == [UInt64].self: return try read(UInt64.self, .uint64, &reader)
        case .uint64 where T.self == [UInt].self: return try read(UInt.self, .uint64, &reader)
        case .double where T.self == [Double].self: return try read(Double.self, .double, &reader)
        case .string where T.self == [String].self: return same(try strings(&reader), T.self)
        default: return nil
        }
    }

    @inline(__always) private static func same<T, U>(_ value: T, _ type: U.Type) -> U? {
        // The same type, so the same bits; `as?` would take the slow way around.
        T.self == U.self ? unsafeBitCast(value, to: U.self) : nil
    }
    @inline(__always) private static func write<T, N: FixedLayoutNumber>(
        _ value: T, _ type: [N].Type, _ number: LayoutNumber, _ writer: inout WireWriter
    ) throws -> Bool {
        guard let values = same(value, type) else { return false }
        try values.withUnsafeBytes { try number.writeArray($0, into: &writer) }
        return true
    }
    /// - Precondition: `T` is `[N]`.
    @inline(__always) private static func read<N: FixedLayoutNumber, T>(
        _ type: N.Type, _ number: LayoutNumber, _ reader: inout WireReader
    ) throws(WireFault) -> T? {
        guard number.isSameOnWire else { return nil }
        let elements = try reader.elements(of: number)
        let count = elements.count / number.size
        let values = [N](unsafeUninitializedCapacity: count) { room, filled in
            // As large as the elements, and numbers: every byte is valid.
            UnsafeMutableRawBufferPointer(room).copyMemory(from: elements)
            filled = count
        }
        return same(values, T.self)
    }
    private static func strings(_ reader: inout WireReader) throws(WireFault) -> [String] {
        let end = try reader.beginArray(elementAlignment: 4)
        let start = reader.position
        var values: [String] = []
        while reader.position < end { values.append(try reader.string()) }
        try reader.endArray(end, elements: start)
        return values
    }
}

// Arrays of numbers as they lie in memory: what a `FixedArray` asks for instead of a container.
extension WireEncoder {
    /// See `WireEncoding`.
    func array(_ number: LayoutNumber, _ bytes: UnsafeRawBufferPointer) throws {
        if let failure { throw failure }
        guard top.state == .fresh else { throw problem("it asks for containers of two kinds") }
        openOptional()
        let node = plan.nodes[Int(top.node)]
        guard node.kind == .array, plan.nodes[Int(node.first)].kind == number.kind else {
            throw problem("it writes an array of \(number) numbers for \(Self.name(node.kind))")
        }
        do { try number.writeArray(bytes, into: &writer) } catch { throw remembered(error) }
        (top.state, top.next) = (.single, 1)  // Whatever else it writes is too much.
    }
}
extension WireDecoder {
    /// Reads the value that is on, an array of as many numbers as the type has.
    func array<A: FixedLayoutArray>(_ type: A.Type, _ number: LayoutNumber) throws -> A {
        guard top.state == .fresh else { throw problem("it asks for containers of two kinds") }
        try openOptional()
        let node = plan.nodes[Int(top.node)]
        guard node.kind == .array, plan.nodes[Int(node.first)].kind == number.kind else {
            throw problem("it reads an array of \(number) numbers from \(WireEncoder.name(node.kind))")
        }
        let elements = try reader.elements(of: number)
        let count = elements.count / number.wireSize
        if count != A.length { throw problem("\(count) elements came, \(A.length) are declared") }
        (top.state, top.next) = (.single, 1)
        // Numbers, so many of them: every byte is valid.
        if number.isSameOnWire { return elements.loadUnaligned(as: A.self) }
        do throws(LayoutNumber.Unfit) {
            return try number.narrowed(elements).withUnsafeBytes { $0.loadUnaligned(as: A.self) }
        } catch { throw problem("\(error.value) is no Int8") }
    }
}
extension WireReader {
    /// Reads an array's elements, whole ones, as they are; valid as long as the reader's bytes.
    mutating func elements(of number: LayoutNumber) throws(WireFault) -> UnsafeRawBufferPointer {
        let end = try beginArray(elementAlignment: number.wireSize)
        let (start, length) = (position, end - position)
        if length % number.wireSize != 0 { throw WireFault(.arrayLength(length), at: start) }
        return try raw(length)
    }
}
