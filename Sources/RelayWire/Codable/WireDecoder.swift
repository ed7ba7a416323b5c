/// Reads a value by the sender's plan, from bytes that may be anything; then the next one.
///
/// A container refers to its decoder without counting. One that outlives its value finds that its `id` is nobody's, and
/// the decoder stays for as long as the process does.
package final class WireDecoder: WireCoder {
    /// A value under way.
    struct Frame: BitwiseCopyable {
        enum State: UInt8 { case fresh, structure, array, pairs, keyedPairs, single, tagged }
        var node: Int32
        var state = State.fresh
        /// Structure: the next field. Keyed pairs: the next entry. Tagged: the case's node; -1 once its payload is the
        /// next frame. Else how many values were read.
        var next: Int32 = 0
        /// Tells a container that outlived its value from the one that is on.
        var id: UInt64
        /// Where the value's content starts, and, for arrays, ends.
        var start = 0
        var end = 0
        /// Where an optional's array ends; -1 when there is none.
        var optionalEnd = -1
    }
    /// A dictionary's entry, whose key was read and whose value was not.
    struct Entry {
        let key: String
        let position: Int
    }
    // Unchecked: as in `WireEncoder`.
    @exclusivity(unchecked) var reader: WireReader
    let plan: WirePlan
    /// Counts the values: a `WireDecoding` is of one of them.
    @exclusivity(unchecked) private(set) var run: UInt64 = 0
    @exclusivity(unchecked) private var type: Any.Type = Never.self
    @exclusivity(unchecked) var top: Frame
    @exclusivity(unchecked) var outer: [Frame] = []
    /// Of no value: none is 0, which stands for no value at all.
    @exclusivity(unchecked) private var lastID: UInt64 = 0
    @exclusivity(unchecked) var containers: LentContainers

    var typeName: String { "\(type)" }

    package init(_ plan: WirePlan) {
        self.plan = plan
        reader = WireReader(UnsafeRawBufferPointer(start: nil, count: 0))
        top = Frame(node: plan.root, id: 0)
        containers = LentContainers(plan)
    }

    /// Reads the plan's fields, all of them, and leaves the reader behind the last.
    static func decode<T: Decodable>(
        _ type: T.Type, isStructure: Bool, _ pool: CoderPool<WireDecoder>, from reader: inout WireReader
    ) throws(RelayError) -> T {
        let taken = pool.take()
        do {
            let value = try taken._withUnsafeGuaranteedRef { decoder in
                try decoder.decode(type, isStructure: isStructure, from: &reader)
            }
            pool.keep(taken)
            return value
        } catch {
            let decoder = taken.takeRetainedValue()
            defer { decoder.abandon() }
            throw decoder.described(error)
        }
    }
    /// Reads one value of many, for one who keeps this decoder meanwhile. It can go on after an error.
    @inline(__always) func decodeNext<T: Decodable>(
        _ type: T.Type, isStructure: Bool, from reader: inout WireReader
    ) throws(RelayError) -> T {
        do { return try decode(type, isStructure: isStructure, from: &reader) } catch { throw failed(error) }
    }
    @inline(never) private func failed(_ error: any Error) -> RelayError {
        let described = described(error)
        abandon()
        return described
    }
    @inline(__always) private func decode<T: Decodable>(
        _ type: T.Type, isStructure: Bool, from reader: inout WireReader
    ) throws -> T {
        begin(type, reader)
        let value: T
        if isStructure {
            value = try type.init(from: WireDecoding(self))
        } else {
            startStructure(plan.nodes[Int(plan.root)])
            value = try self.value(type, field("value", top.id))
        }
        if !outer.isEmpty { throw problem("it goes on after an error within") }
        try finishFrame()
        reader = self.reader
        end()
        return value
    }
    @inline(__always) private func begin(_ type: Any.Type, _ reader: WireReader) {
        run &+= 1
        (self.type, self.reader) = (type, reader)
        top = Frame(node: plan.root, id: nextID(), start: reader.position)
    }
    /// The bytes go: nothing that was kept may read on.
    @inline(__always) private func end() {
        run &+= 1
        top.id = 0
    }
    /// After an error. Who kept a container finds that its value is over; the next value gets containers of its own.
    private func abandon() {
        end()
        outer.removeAll()
        containers.abandon(of: self)
    }
    @inline(__always) func nextID() -> UInt64 {
        lastID &+= 1
        return lastID
    }
}
