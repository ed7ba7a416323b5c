// Arrays of numbers as they lie in memory: what a `FixedArray` asks for instead of a container.
extension WireEncoder {
    /// Writes all the numbers that the bytes are as the value that is on.
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
