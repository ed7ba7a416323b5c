import RelayWire

/// The headers of the last messages, made and checked once: those of one command's calls differ in nothing but the serial,
/// those of one caller's replies in that and the call's.
struct HeaderTemplates {
    /// An object: a copy of all these texts would cost more than the search.
    private final class Entry: Sendable {
        let header: MessageHeader
        let template: MessageTemplate
        init(_ header: MessageHeader) throws(RelayError) {
            (self.header, template) = (header, try MessageTemplate(header))
        }
    }
    /// As many as there are callers or commands at the same time, mostly. The latest one replaces the oldest.
    static let limit = 16
    private var entries: [Entry] = []
    private var oldest = 0
    /// Where a reply without an error has the serial of its call: that is its first field.
    private static let replySerialOffset = 20

    /// The header's template, but for the serial of the call that it answers. Nil for an error: those are all different.
    ///
    /// Throws `InvalidArgument` for a bad or missing field.
    mutating func template(of header: MessageHeader) throws(RelayError) -> MessageTemplate? {
        if header.kind == .error { return nil }
        if let entry = entries.first(where: { Self.isSame($0.header, header) }) { return entry.template }
        let entry = try Entry(header)
        if entries.count < Self.limit {
            entries.append(entry)
        } else {
            entries[oldest] = entry
            oldest = (oldest + 1) % Self.limit
        }
        return entry.template
    }
    /// The serial that a reply's copy of a template needs.
    static func fillIn(_ header: MessageHeader, _ writer: inout WireWriter) {
        if let serial = header.replySerial { writer.patch(serial, at: replySerialOffset) }
    }
    /// What differs mostly is compared first. A call's serial of 0 is refused, and so makes no template.
    private static func isSame(_ a: MessageHeader, _ b: MessageHeader) -> Bool {
        a.kind == b.kind && a.destination == b.destination && a.member == b.member
            && a.signature.text == b.signature.text && a.flags == b.flags && a.interface == b.interface
            && a.path == b.path && a.unixFDs == b.unixFDs && b.replySerial != 0
            && (a.replySerial == nil) == (b.replySerial == nil)
    }
}
