import RelayCore
import RelayTool
import RelayWire

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
                // The body's bytes do not have their run; the page does.
                var (reader, pages, epoch) = (WireReader(bytes), PageReader(), UInt64(0))
                let page = try pages.read(&reader, began: { epoch = $0.epoch }) { event in
                    events.append(try Event(event, in: bytes, epoch: epoch))
                }
                try reader.finish()
                return page
            }
        } catch {
            throw CLIFailure(.software, "\(interface) answers Read with a malformed page: \(Self.reason(error))")
        }
        (self.events, bytes) = (events, reply.body)
    }

    private static func reason(_ error: any Error) -> String { (error as? RelayError)?.message ?? "\(error)" }
}

extension StoredPage.Event {
    /// The stamp is the last three arguments, with which a body ends.
    fileprivate init(_ event: StreamPage.Event, in bytes: UnsafeRawBufferPointer, epoch: UInt64) throws {
        try BusNames.check(event.name, as: .member)
        let body = UnsafeRawBufferPointer(rebasing: bytes[event.body])
        guard event.signature.hasSuffix(WireSchema.stampSignature), let stamp = Stamp(endOf: body, epoch: epoch) else {
            throw RelayError(.schemaMismatch, "\(event.name) came as '(\(event.signature))', which has no stamp")
        }
        self.init(
            name: event.name, schema: event.schema, signature: event.signature, stamp: stamp, body: event.body)
    }
}
