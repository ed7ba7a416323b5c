import RelayCore
import RelayTool

/// A page of a service's journal.
struct StoredPage: Sendable {
    struct Event: Equatable, Sendable {
        let name: String
        let schema: UInt32
        /// Of the fields and the stamp.
        let signature: String
        let stamp: Stamp
        /// Where its body is in the page's bytes.
        let body: Range<Int>
    }
    let bytes: [UInt8]
    /// By rising sequence, as `JournalScan` has seen to.
    let events: [Event]
    let page: StreamPage

    /// Reads an answer to `Read`. Throws `.software` for what is none; `interface` is for the message.
    init(_ reply: IncomingReply, of interface: String) throws(CLIFailure) {
        guard reply.signature == Stream1.pageSignature else {
            throw CLIFailure(
                .software, "\(interface) answers Read with '\(reply.signature)', not with '\(Stream1.pageSignature)'")
        }
        var events: [Event] = []
        do {
            page = try reply.body.withUnsafeBytes { bytes in
                var reader = WireReader(bytes)
                let page = try Stream1.readPage(&reader) { event in events.append(try Event(event, in: bytes)) }
                try reader.finish()
                return page
            }
        } catch {
            throw CLIFailure(.software, "\(interface) answers Read with a malformed page: \(Self.reason(error))")
        }
        // The body's bytes do not have their run; the page does.
        let epoch = page.epoch
        (self.events, bytes) = (events.map { $0.inEpoch(epoch) }, reply.body)
    }

    private static func reason(_ error: any Error) -> String { (error as? RelayError)?.message ?? "\(error)" }
}

extension StoredPage.Event {
    /// The stamp is the last three arguments, with which a body ends.
    fileprivate init(_ event: StreamPage.Event, in bytes: UnsafeRawBufferPointer) throws {
        try BusNames.check(event.name, as: .member)
        let size = 24
        guard event.signature.hasSuffix(WireSchema.stampSignature), event.body.count >= size else {
            throw RelayError(.schemaMismatch, "\(event.name) came as '(\(event.signature))', which has no stamp")
        }
        var reader = WireReader(
            UnsafeRawBufferPointer(rebasing: bytes[(event.body.upperBound - size)..<event.body.upperBound]))
        let stamp = Stamp(
            epoch: 0, sequence: try reader.uint64(), previous: try reader.uint64(),
            publishedAt: Timestamp(microseconds: try reader.uint64()))
        self.init(
            name: event.name, schema: event.schema, signature: event.signature, stamp: stamp, body: event.body)
    }
    fileprivate func inEpoch(_ epoch: UInt64) -> Self {
        Self(name: name, schema: schema, signature: signature, stamp: stamp.inEpoch(epoch), body: body)
    }
}
