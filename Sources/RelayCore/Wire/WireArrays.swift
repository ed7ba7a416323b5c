/// Arrays of numbers and strings, written and read in one loop instead of a call through Codable for each element.
enum WireArrays {
    /// False when the value is no such array, or the plan has something else there.
    static func write<T: Encodable>(
        _ value: T, _ plan: WirePlan, _ node: Int32, _ writer: inout WireWriter
    ) throws -> Bool {
        let array = plan.nodes[Int(node)]
        guard array.kind == .array else { return false }
        let element = plan.nodes[Int(array.first)]
        switch element.kind {
        case .byte:
            guard let values = same(value, [UInt8].self) else { return false }
            let mark = writer.beginArray(elementAlignment: 1)
            writer.append(values)
            try writer.endArray(mark)
        case .int32:
            guard let values = same(value, [Int32].self) else { return false }
            try each(values, 4, &writer) { $0.int32($1) }
        case .uint32:
            guard let values = same(value, [UInt32].self) else { return false }
            try each(values, 4, &writer) { $0.uint32($1) }
        case .int64:
            if let values = same(value, [Int64].self) {
                try each(values, 8, &writer) { $0.int64($1) }
            } else if let values = same(value, [Int].self) {
                try each(values, 8, &writer) { $0.int64(Int64($1)) }
            } else {
                return false
            }
        case .uint64:
            guard let values = same(value, [UInt64].self) else { return false }
            try each(values, 8, &writer) { $0.uint64($1) }
        case .double:
            if let values = same(value, [Double].self) {
                try each(values, 8, &writer) { $0.double($1) }
            } else if let values = same(value, [Float].self) {
                try each(values, 8, &writer) { $0.double(Double($1)) }
            } else {
                return false
            }
        case .string:
            guard let values = same(value, [String].self) else { return false }
            let mark = writer.beginArray(elementAlignment: 4)
            for value in values { try writer.string(value) }
            try writer.endArray(mark)
        default: return false
        }
        return true
    }
    /// Nil when the type is no such array, or the plan has something else there.
    static func read<T: Decodable>(_ type: T.Type, _ plan: WirePlan, _ node: Int32, _ reader: inout WireReader)
        throws(WireFault) -> T?
    {
        let array = plan.nodes[Int(node)]
        guard array.kind == .array else { return nil }
        switch plan.nodes[Int(array.first)].kind {
        case .byte where T.self == [UInt8].self:
            let end = try reader.beginArray(elementAlignment: 1)
            return same([UInt8](try reader.raw(end - reader.position)), T.self)
        case .int32 where T.self == [Int32].self:
            return same(try each(&reader, 4) { reader throws(WireFault) in try reader.int32() }, T.self)
        case .uint32 where T.self == [UInt32].self:
            return same(try each(&reader, 4) { reader throws(WireFault) in try reader.uint32() }, T.self)
        case .int64 where T.self == [Int64].self:
            return same(try each(&reader, 8) { reader throws(WireFault) in try reader.int64() }, T.self)
        case .int64 where T.self == [Int].self:
            return same(try each(&reader, 8) { reader throws(WireFault) in Int(try reader.int64()) }, T.self)
        case .uint64 where T.self == [UInt64].self:
            return same(try each(&reader, 8) { reader throws(WireFault) in try reader.uint64() }, T.self)
        case .double where T.self == [Double].self:
            return same(try each(&reader, 8) { reader throws(WireFault) in try reader.double() }, T.self)
        case .string where T.self == [String].self:
            return same(try strings(&reader), T.self)
        default: return nil
        }
    }

    @inline(__always) private static func same<T, U>(_ value: T, _ type: U.Type) -> U? {
        // The same type, so the same bits; `as?` would take the slow way around.
        T.self == U.self ? unsafeBitCast(value, to: U.self) : nil
    }
    @inline(__always) private static func each<V>(
        _ values: [V], _ alignment: Int, _ writer: inout WireWriter, _ write: (inout WireWriter, V) -> Void
    ) throws {
        let mark = writer.beginArray(elementAlignment: alignment)
        for value in values { write(&writer, value) }
        try writer.endArray(mark)
    }
    @inline(__always) private static func each<V>(
        _ reader: inout WireReader, _ size: Int, _ read: (inout WireReader) throws(WireFault) -> V
    ) throws(WireFault) -> [V] {
        let end = try reader.beginArray(elementAlignment: size)
        let start = reader.position
        var values: [V] = []
        values.reserveCapacity((end - start) / size)  // The bytes are there: `beginArray` checked it.
        while reader.position < end { values.append(try read(&reader)) }
        try reader.endArray(end, elements: start)
        return values
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
