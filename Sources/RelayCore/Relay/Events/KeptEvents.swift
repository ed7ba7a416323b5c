import RelayWire

/// Events that wait, as they came: a page of the journal, one signal, or one payload of a ring.
final class KeptEvents: Sendable {
    /// What events of a page that follow each other have in common.
    struct Kind: Sendable {
        /// The decoder's number for the event.
        let token: Int32
        /// Kept by the page's schemas, which are those it was made with, or by the one event.
        fileprivate let format: Unmanaged<EventFormat>?
        fileprivate let unknownSchema: UInt32?
        /// Where it is in `bytes`.
        fileprivate let signature: Range<Int>

        init(_ token: Int32, schema: UInt32, of schemas: StreamSchemas?, signature: Range<Int>) {
            let format = schemas?.format(schema)
            (self.token, self.format, self.signature) = (token, format.map { .passUnretained($0) }, signature)
            unknownSchema = schemas != nil && format == nil ? schema : nil
        }
        fileprivate init(_ token: Int32, _ event: RawEvent) {
            (self.token, format) = (token, event.format.map { .passUnretained($0) })
            unknownSchema = event.unknownSchema
            signature = event.body.count..<event.body.count + event.signature.count
        }
    }
    /// An event of a page.
    struct Entry: Sendable {
        /// Of `kinds`.
        let kind: Int32
        /// Where its body is in `bytes`.
        let body: Range<Int>
    }
    let bytes: [UInt8]
    let entries: [Entry]
    private let kinds: [Kind]
    private let schemas: StreamSchemas?
    /// The one event that came by itself: then there are neither entries nor kinds.
    private let live: (kind: Kind, stamp: Stamp, format: EventFormat?, transport: Envelope.Transport, body: Int)?
    let epoch: UInt64
    /// Once the last one was handled, everything asked for up to here was.
    let through: UInt64

    init(
        page bytes: [UInt8], _ entries: [Entry], _ kinds: [Kind], epoch: UInt64, through: UInt64,
        _ schemas: StreamSchemas?
    ) {
        (self.bytes, self.entries, self.kinds, self.schemas) = (bytes, entries, kinds, schemas)
        (self.epoch, self.through, live) = (epoch, through, nil)
    }
    init(_ event: RawEvent, token: Int32 = -1) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(event.body.count + event.signature.count)
        bytes.append(contentsOf: event.body)
        bytes.append(contentsOf: event.signature)
        (self.bytes, entries, kinds, schemas) = (bytes, [], [], nil)
        live = (Kind(token, event), event.stamp, event.format, event.transport, event.body.count)
        (epoch, through) = (event.stamp.epoch, event.stamp.sequence)
    }

    var isLive: Bool { live != nil }
    var count: Int { isLive ? 1 : entries.count }
    /// Several events of the journal are left.
    func isBatch(from index: Int) -> Bool { entries.count - index > 1 }
    func token(_ index: Int) -> Int32 { live?.kind.token ?? kinds[Int(entries[index].kind)].token }
    func stamp(_ index: Int) -> Stamp { live?.stamp ?? bytes.withUnsafeBytes { stamp(of: entries[index], in: $0) } }
    /// - Parameter stamp: its own, or that in another run.
    func withEvent<Result>(_ index: Int, _ stamp: Stamp, _ body: (RawEvent) throws -> Result) rethrows -> Result {
        try bytes.withUnsafeBytes { bytes in
            guard let live else { return try body(event(entries[index], stamp, in: bytes)) }
            let whole = UnsafeRawBufferPointer(rebasing: bytes[..<live.body])
            return try body(event(live.transport, live.kind, stamp, whole, in: bytes))
        }
    }
    /// An event of a page.
    ///
    /// - Parameter bytes: the page's own.
    @inline(__always) func event(_ entry: Entry, in bytes: UnsafeRawBufferPointer) -> RawEvent {
        event(entry, stamp(of: entry, in: bytes), in: bytes)
    }
    @inline(__always)
    private func event(_ entry: Entry, _ stamp: Stamp, in bytes: UnsafeRawBufferPointer) -> RawEvent {
        event(
            .journal, kinds[Int(entry.kind)], stamp, UnsafeRawBufferPointer(rebasing: bytes[entry.body]), in: bytes)
    }
    @inline(__always)
    private func event(
        _ transport: Envelope.Transport, _ kind: Kind, _ stamp: Stamp, _ body: UnsafeRawBufferPointer,
        in bytes: UnsafeRawBufferPointer
    ) -> RawEvent {
        RawEvent(
            transport, stamp, kind.format, unknown: kind.unknownSchema,
            signature: UnsafeRawBufferPointer(rebasing: bytes[kind.signature]), body: body)
    }
    private func stamp(of entry: Entry, in bytes: UnsafeRawBufferPointer) -> Stamp {
        // An entry without one was never made.
        Stamp(endOf: UnsafeRawBufferPointer(rebasing: bytes[entry.body]), epoch: epoch)
            ?? Stamp(epoch: epoch, sequence: 0, previous: 0, publishedAt: Timestamp(microseconds: 0))
    }
}
