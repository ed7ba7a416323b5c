/// Writes a value by a plan, then the next one: what `encode(to:)` does is compared with the plan step by step, and
/// never trusted.
///
/// A container refers to its encoder without counting: see `LentContainers`. One that outlives its value finds that its
/// `id` is nobody's.
package final class WireEncoder: WireCoder {
    /// A value under way.
    struct Frame: BitwiseCopyable {
        enum State: UInt8 { case fresh, structure, array, pairs, keyedPairs, single, tagged }
        var node: Int32
        var state = State.fresh
        /// Structure: the next field. Pairs: how many keys and values were written. Single: 1 when written. Tagged: 1
        /// when the case was written, whose payload is then the next frame.
        var next: Int32 = 0
        /// Distinguishes a container that outlived its value from the present one.
        var id: UInt64
        var array: WireWriter.ArrayMark?
        var optional: WireWriter.ArrayMark?
    }
    // Unchecked: who has taken the encoder is alone with it, and no access spans code of others; the checks were a sixth
    // of the encoding's time.
    @exclusivity(unchecked) var writer = WireWriter.empty
    let plan: WirePlan
    /// Counts the values: a `WireEncoding` is of one of them.
    @exclusivity(unchecked) private(set) var run: UInt64 = 0
    @exclusivity(unchecked) private var type: Any.Type = Never.self
    @exclusivity(unchecked) var top: Frame
    @exclusivity(unchecked) var outer: [Frame] = []
    /// Of no value: none is 0, which stands for no value at all.
    @exclusivity(unchecked) private var lastID: UInt64 = 0
    @exclusivity(unchecked) var containers: LentContainers
    /// The first thing that went wrong: `encode(to:)` may have swallowed it.
    @exclusivity(unchecked) var failure: RelayError?

    var typeName: String { "\(type)" }
    /// The id of no value: every write to its container fails.
    static let refused = UInt64.max

    package init(_ plan: WirePlan) {
        self.plan = plan
        top = Frame(node: plan.root, id: 0)
        containers = LentContainers(plan)
    }

    /// Appends the arguments of a body. On an error the writer is as before.
    ///
    /// - Parameter type: the value's, as errors name it.
    static func encode<T: Encodable>(
        _ value: T, of type: Any.Type = T.self, isStructure: Bool, _ pool: CoderPool<WireEncoder>,
        into writer: inout WireWriter
    ) throws(RelayError) {
        let taken = pool.take()
        let mark = writer.count
        do {
            try taken._withUnsafeGuaranteedRef { encoder in
                swap(&writer, &encoder.writer)
                defer { swap(&writer, &encoder.writer) }
                try encoder.encode(value, of: type, isStructure: isStructure)
            }
            pool.keep(taken)
        } catch {
            writer.truncate(to: mark)
            throw failed(taken, error)
        }
    }
    /// Shows the arguments of a body, in memory that the next value gets again.
    static func show<T: Encodable>(
        _ value: T, isStructure: Bool, _ pool: CoderPool<WireEncoder>,
        _ body: (UnsafeRawBufferPointer) throws -> Bool
    ) throws -> Bool {
        let taken = pool.take()
        do {
            try taken._withUnsafeGuaranteedRef { try $0.encode(value, of: T.self, isStructure: isStructure) }
        } catch { throw failed(taken, error) }
        return try taken._withUnsafeGuaranteedRef { encoder in
            defer {
                encoder.forget()
                pool.keep(taken)
            }
            return try encoder.writer.withUnsafeBytes(body)
        }
    }
    /// Ends what is not used again.
    @inline(never) private static func failed(_ taken: Unmanaged<WireEncoder>, _ error: any Error) -> RelayError {
        let encoder = taken.takeRetainedValue()
        defer { encoder.abandon() }
        return encoder.failure ?? encoder.described(error)
    }
    @inline(__always) private func encode<T: Encodable>(_ value: T, of type: Any.Type, isStructure: Bool) throws {
        run &+= 1
        self.type = type
        top = Frame(node: plan.root, id: nextID())
        if isStructure {
            try value.encode(to: WireEncoding(self))
        } else {
            startStructure(plan.nodes[Int(plan.root)])
            try self.value(value, field("value", top.id))
        }
        if let failure { throw failure }
        if !outer.isEmpty { throw problem("it goes on after an error within") }
        try finishFrame()
        end()
    }
    /// The value is over: nothing that was kept may write on.
    @inline(__always) private func end() {
        run &+= 1
        top.id = 0
    }
    private func forget() {
        if writer.capacity > Self.largestKept { writer = .empty } else { writer.removeAll() }
    }
    /// Memory that is kept for the next value.
    private static var largestKept: Int { 64 << 10 }
    private func abandon() {
        end()
        containers.abandon(of: self)
    }
    @inline(__always) func nextID() -> UInt64 {
        lastID &+= 1
        return lastID
    }
}
