/// Events on their way to a positioned subscription, as they came: a page of the journal, or one signal.
final class FeedPage: Sendable {
    struct Entry: Sendable {
        /// The decoder's number for the event.
        let token: Int32
        let schema: UInt32?
        /// Where its signature and its body are in `bytes`.
        let signature: Range<Int>
        let body: Range<Int>
    }
    let bytes: [UInt8]
    let entries: [Entry]
    let epoch: UInt64
    let schemas: LaneSchemas?
    /// A signal.
    let isLive: Bool
    /// Once the last one was handled, everything asked for up to here was.
    let through: UInt64

    init(page bytes: [UInt8], _ entries: [Entry], epoch: UInt64, through: UInt64, _ schemas: LaneSchemas?) {
        (self.bytes, self.entries, self.epoch, self.schemas) = (bytes, entries, epoch, schemas)
        (isLive, self.through) = (false, through)
    }
    init(
        live token: Int32, signature: UnsafeRawBufferPointer, body: UnsafeRawBufferPointer, _ stamp: Stamp,
        schema: UInt32?, _ schemas: LaneSchemas?
    ) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(body.count + signature.count)
        bytes.append(contentsOf: body)
        bytes.append(contentsOf: signature)
        self.bytes = bytes
        entries = [
            Entry(token: token, schema: schema, signature: body.count..<bytes.count, body: 0..<body.count)
        ]
        (epoch, self.schemas, isLive, through) = (stamp.epoch, schemas, true, stamp.sequence)
    }

    func stamp(_ index: Int) -> Stamp {
        let stamp = bytes.withUnsafeBytes { bytes in
            RawEvent.stamp(of: UnsafeRawBufferPointer(rebasing: bytes[entries[index].body]), epoch: epoch)
        }
        // An entry without one was never made.
        return stamp ?? Stamp(epoch: epoch, sequence: 0, previous: 0, publishedAt: Timestamp(microseconds: 0))
    }
    func withEvent<Result>(_ index: Int, _ body: (RawEvent) throws -> Result) rethrows -> Result {
        let entry = entries[index]
        return try bytes.withUnsafeBytes { bytes in
            try body(
                RawEvent(
                    schemas: schemas, schema: entry.schema,
                    signature: UnsafeRawBufferPointer(rebasing: bytes[entry.signature]),
                    body: UnsafeRawBufferPointer(rebasing: bytes[entry.body]), isLive: isLive))
        }
    }
}
