/// Events on their way to a positioned subscription, as they came: a page of the journal, one signal, or one payload.
final class ReplayPage: Sendable {
    struct Entry: Sendable {
        /// The decoder's number for the event.
        let token: Int32
        /// Of entries in a row of one page: those of the same kind have name, schema and signature in common.
        let kind: Int32
        let schema: UInt32?
        /// Where its signature and its body are in `bytes`.
        let signature: Range<Int>
        let body: Range<Int>
    }
    let bytes: [UInt8]
    let entries: [Entry]
    let epoch: UInt64
    let schemas: StreamSchemas?
    /// Of a single event, which was no page's. Of a payload, which is all of the bytes, the format, too.
    private let live: (stamp: Stamp, format: PayloadFormat?)?
    var isLive: Bool { live != nil }
    /// Once the last one was handled, everything asked for up to here was.
    let through: UInt64

    init(page bytes: [UInt8], _ entries: [Entry], epoch: UInt64, through: UInt64, _ schemas: StreamSchemas?) {
        (self.bytes, self.entries, self.epoch, self.schemas) = (bytes, entries, epoch, schemas)
        (self.through, live) = (through, nil)
    }
    init(live token: Int32, _ raw: RawEvent, _ stamp: Stamp) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(raw.body.count + raw.signature.count)
        bytes.append(contentsOf: raw.body)
        bytes.append(contentsOf: raw.signature)
        self.bytes = bytes
        let (body, signature) = (0..<raw.body.count, raw.body.count..<bytes.count)
        entries = [Entry(token: token, kind: 0, schema: raw.schema, signature: signature, body: body)]
        (epoch, schemas, through) = (stamp.epoch, raw.schemas, stamp.sequence)
        live = (stamp, raw.format)
    }

    /// Several events of the journal are left.
    func isBatch(from index: Int) -> Bool { !isLive && entries.count - index > 1 }
    func stamp(_ index: Int) -> Stamp {
        if let live { return live.stamp }
        let stamp = bytes.withUnsafeBytes { bytes in
            Stamp(endOf: UnsafeRawBufferPointer(rebasing: bytes[entries[index].body]), epoch: epoch)
        }
        // An entry without one was never made.
        return stamp ?? Stamp(epoch: epoch, sequence: 0, previous: 0, publishedAt: Timestamp(microseconds: 0))
    }
    func withEvent<Result>(_ index: Int, _ body: (RawEvent) throws -> Result) rethrows -> Result {
        if let format = live?.format {
            return try bytes.withUnsafeBytes { try body(RawEvent(.passUnretained(format), payload: $0)) }
        }
        return try bytes.withUnsafeBytes { try body(raw(index, in: $0)) }
    }
    /// - Parameter bytes: the page's own.
    /// - Precondition: it is no payload.
    @inline(__always) func raw(_ index: Int, in bytes: UnsafeRawBufferPointer) -> RawEvent {
        let entry = entries[index]
        return RawEvent(
            schemas: schemas, schema: entry.schema,
            signature: UnsafeRawBufferPointer(rebasing: bytes[entry.signature]),
            body: UnsafeRawBufferPointer(rebasing: bytes[entry.body]), isLive: isLive)
    }
}
